use kagetsu_game::xiangqi::Kind;
use kagetsu_game::{Score, Side};

use super::Board;
use super::network::{PieceNetwork, PiecePoint, input};
use super::values::WHOLE;

impl Board {
    /// Returns the evaluation for the side to move: pieces and squares, and what the network has
    /// learned about them.
    pub(super) fn opinion(&self) -> Score {
        self.limited(Score::opinion(self.base() + self.learned()))
    }

    /// Returns the value of pieces and squares for the side to move, in centi-units.
    pub(crate) fn base(&self) -> i32 {
        let (sum, phase) = (self.sum(), self.phase().min(WHOLE));
        let red = (sum.middle * phase + sum.end * (WHOLE - phase)) / WHOLE;
        if self.side == Side::First { red } else { -red }
    }

    /// Iterates over the network's inputs for the view of a side.
    pub(crate) fn inputs(&self, view: Side) -> impl Iterator<Item = u16> {
        let pieces = self.pieces.iter();
        pieces.map(move |(at, piece)| input(view, PiecePoint(piece, at)))
    }

    /// Returns the evaluation for the side to move with the weights of another network, in
    /// centi-units.
    pub(crate) fn valued_by(&self, network: &PieceNetwork) -> i32 {
        let pieces = self.pieces.iter();
        let sums = network.sums(pieces.map(|(at, piece)| PiecePoint(piece, at)));
        self.base() + network.value(&sums, self.side, self.phase())
    }

    /// Limits the evaluation: a side without attacking pieces has no positive one.
    fn limited(&self, opinion: Score) -> Score {
        match [self.side, self.side.other()].map(|side| self.has_attackers(side)) {
            [true, true] => opinion,
            [true, false] => opinion.max(Score::ZERO),
            [false, true] => opinion.min(Score::ZERO),
            [false, false] => Score::ZERO,
        }
    }

    fn has_attackers(&self, side: Side) -> bool {
        self.has_officers(side) || !self.pieces.pieces(side, Kind::Soldier).is_empty()
    }
}
