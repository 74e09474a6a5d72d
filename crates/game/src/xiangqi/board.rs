use super::geometry::{
    self, ADVISOR, ELEPHANT, GENERAL, HORSE, HORSE_TO, RAYS, SOLDIER, SOLDIER_TO,
};
use super::{Kind, Piece, SQUARES, Square, Squares};
use crate::Side;

/// The pieces and their moves, ignoring the safety of the generals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    squares: [Option<Piece>; SQUARES],
    sides: [Squares; 2],
    kinds: [Squares; Kind::ALL.len()],
}

impl Board {
    /// The empty board.
    pub const EMPTY: Self = Self {
        squares: [None; SQUARES],
        sides: [Squares::NONE; 2],
        kinds: [Squares::NONE; Kind::ALL.len()],
    };

    /// Returns the piece on a point.
    #[must_use]
    pub fn at(&self, square: Square) -> Option<Piece> {
        self.squares[square.index()]
    }

    /// Returns all pieces of a side.
    #[must_use]
    pub const fn side(&self, side: Side) -> Squares {
        self.sides[side.index()]
    }

    /// Returns all pieces of a kind, of both sides.
    #[must_use]
    pub const fn kind(&self, kind: Kind) -> Squares {
        self.kinds[kind.index()]
    }

    /// Returns all pieces of a kind and a side.
    #[must_use]
    pub fn pieces(&self, side: Side, kind: Kind) -> Squares {
        self.side(side) & self.kind(kind)
    }

    /// Returns all pieces.
    #[must_use]
    pub fn occupied(&self) -> Squares {
        self.sides[0] | self.sides[1]
    }

    /// Returns all pieces with their points, from `a0` on.
    pub fn iter(&self) -> impl Iterator<Item = (Square, Piece)> {
        self.occupied()
            .into_iter()
            .filter_map(|square| Some((square, self.at(square)?)))
    }

    /// Returns the point of a side's general; `None` after its capture.
    #[must_use]
    pub fn general(&self, side: Side) -> Option<Square> {
        self.pieces(side, Kind::General).lowest()
    }

    /// Puts a piece on an empty point.
    pub fn put(&mut self, square: Square, piece: Piece) {
        self.squares[square.index()] = Some(piece);
        self.flip(square, piece);
    }

    /// Removes the piece from the point, if there is one.
    pub fn take(&mut self, square: Square) -> Option<Piece> {
        let piece = self.squares[square.index()].take()?;
        self.flip(square, piece);
        Some(piece)
    }

    fn flip(&mut self, square: Square, piece: Piece) {
        self.sides[piece.side.index()] ^= Squares::one(square);
        self.kinds[piece.kind.index()] ^= Squares::one(square);
    }

    /// Moves the piece on `from` to `to` without checking any rule, and returns the captured piece.
    pub fn shift(&mut self, from: Square, to: Square) -> Option<Piece> {
        let captured = self.take(to);
        if let Some(piece) = self.take(from) {
            self.put(to, piece);
        }
        captured
    }

    /// Returns the points that the piece may go to, ignoring its general's safety.
    #[must_use]
    pub fn targets(&self, from: Square, piece: Piece) -> Squares {
        reach(from, piece, self.occupied()) & !self.side(piece.side)
    }

    /// Returns the pieces of both sides that could capture on the point if exactly `occupied` were
    /// taken, ignoring the generals' safety. Only pieces on `occupied` count.
    #[must_use]
    pub fn attackers(&self, square: Square, occupied: Squares) -> Squares {
        let index = square.index();
        let soldiers = SOLDIER_TO[0][index] & self.side(Side::First)
            | SOLDIER_TO[1][index] & self.side(Side::Second);
        let mut found = soldiers & self.kind(Kind::Soldier)
            | geometry::reach(&HORSE_TO[index], occupied) & self.kind(Kind::Horse)
            | GENERAL[index] & self.kind(Kind::General)
            | ADVISOR[index] & self.kind(Kind::Advisor)
            | geometry::reach(&ELEPHANT[index], occupied) & self.kind(Kind::Elephant);
        for (direction, rays) in RAYS.iter().enumerate() {
            let Some(first) = geometry::nearest(direction, rays[index] & occupied) else {
                continue;
            };
            found |= Squares::one(first) & self.kind(Kind::Rook);
            let second = geometry::nearest(direction, rays[first.index()] & occupied);
            found |= second.map_or(Squares::NONE, Squares::one) & self.kind(Kind::Cannon);
        }
        found & occupied
    }
}

/// Returns the points that a piece could go to if exactly `occupied` were taken. Captures are on
/// `occupied`, including its own side's pieces.
#[must_use]
pub fn reach(from: Square, piece: Piece, occupied: Squares) -> Squares {
    let index = from.index();
    match piece.kind {
        Kind::General => GENERAL[index],
        Kind::Advisor => ADVISOR[index],
        Kind::Elephant => geometry::reach(&ELEPHANT[index], occupied),
        Kind::Horse => geometry::reach(&HORSE[index], occupied),
        Kind::Rook => geometry::rook(from, occupied),
        Kind::Cannon => geometry::cannon(from, occupied),
        Kind::Soldier => SOLDIER[piece.side.index()][index],
    }
}
