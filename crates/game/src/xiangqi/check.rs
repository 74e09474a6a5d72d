use super::geometry::{self, ASLANT, CROSS, HORSE_TO, SOLDIER_TO, between};
use super::{Board, Kind, Piece, Square, Squares, reach};
use crate::Side;

/// The constraints on a side's moves that keep its general safe. Computed once for a position, it
/// spares most moves a test of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Danger {
    /// Whether the general is in check or faces the other general.
    is_check: bool,
    /// Own pieces that shield the general: the only piece before a rook, a general or on a horse's
    /// leg, or one of two before a cannon.
    pinned: Squares,
    /// Points between the general and a bare cannon: a piece that goes there becomes its screen.
    screens: Squares,
}

impl Danger {
    /// Whether the side is in check, which includes facing generals.
    #[must_use]
    pub const fn is_check(&self) -> bool {
        self.is_check
    }
}

impl Board {
    /// Whether the general of `side` is attacked, or faces the other general on an open file.
    #[must_use]
    pub fn is_in_check(&self, side: Side) -> bool {
        let enemy = side.other();
        self.general(side).is_some_and(|general| {
            self.is_attacked(general, enemy, self.occupied(), self.side(enemy))
        })
    }

    /// Whether moving the piece on `from` to the empty or hostile point `to` gives check to a
    /// general not in check.
    #[must_use]
    pub fn gives_check(&self, from: Square, to: Square) -> bool {
        let (Some(piece), entered) = (self.at(from), Squares::one(to)) else {
            return false;
        };
        let Some(general) = self
            .general(piece.side.other())
            .filter(|&general| general != to)
        else {
            return false;
        };
        let occupied = self.occupied() & !Squares::one(from) | entered;
        // From elsewhere a piece discovers a check only by leaving or entering a line to the
        // general, or by leaving a leg.
        let near = CROSS[general.index()] | ASLANT[general.index()];
        if (near & (Squares::one(from) | entered)).is_empty() && piece.kind != Kind::Horse {
            return false;
        }
        let is_direct = || {
            let faces = piece.kind == Kind::General && (between(general, to) & occupied).is_empty();
            faces && to.file() == general.file() || reach(to, piece, occupied).has(general)
        };
        let others = self.side(piece.side) & !Squares::one(from);
        is_direct() || self.is_attacked(general, piece.side, occupied, others)
    }

    /// Whether the pieces of `by` among `attackers` attack a general on `square` if exactly
    /// `occupied` were taken.
    fn is_attacked(&self, square: Square, by: Side, occupied: Squares, attackers: Squares) -> bool {
        let is_line_open = |from: Square| {
            let screens = (between(square, from) & occupied).count();
            match self.at(from).map(|piece| piece.kind) {
                Some(Kind::Cannon) => screens == 1,
                Some(Kind::General) => screens == 0 && from.file() == square.file(),
                _ => screens == 0,
            }
        };
        !(SOLDIER_TO[by.index()][square.index()] & self.kind(Kind::Soldier) & attackers).is_empty()
            || !(geometry::reach(&HORSE_TO[square.index()], occupied)
                & self.kind(Kind::Horse)
                & attackers)
                .is_empty()
            || (CROSS[square.index()] & self.long_range() & attackers)
                .into_iter()
                .any(is_line_open)
    }

    /// Whether a piece of `side` can recapture on `square` after a capture from `from`, ignoring
    /// pins.
    pub(super) fn is_protected(&self, square: Square, side: Side, from: Square) -> bool {
        let occupied = self.occupied() & !Squares::one(from);
        let defenders = self.side(side) & !Squares::one(square);
        let generals = self.kind(Kind::General);
        let steps = geometry::GENERAL[square.index()] & generals
            | geometry::ADVISOR[square.index()] & self.kind(Kind::Advisor)
            | geometry::reach(&geometry::ELEPHANT[square.index()], occupied)
                & self.kind(Kind::Elephant);
        !(steps & defenders).is_empty()
            || self.is_attacked(square, side, occupied, defenders & !generals)
    }

    fn long_range(&self) -> Squares {
        self.kind(Kind::Rook) | self.kind(Kind::Cannon) | self.kind(Kind::General)
    }

    /// Returns the constraints of `side`; `None` if it has lost its general.
    #[must_use]
    pub fn danger(&self, side: Side) -> Option<Danger> {
        let general = self.general(side)?;
        let (occupied, own, enemy) = (self.occupied(), self.side(side), self.side(side.other()));
        let mut danger = Danger {
            is_check: false,
            pinned: Squares::NONE,
            screens: Squares::NONE,
        };
        for from in CROSS[general.index()] & self.long_range() & enemy {
            let gap = between(general, from);
            let inside = gap & occupied;
            match (self.at(from).map(|piece| piece.kind), inside.count()) {
                (Some(Kind::General), _) if from.file() != general.file() => {}
                (Some(Kind::Cannon), 0) => danger.screens |= gap,
                (Some(Kind::Cannon), 1) => danger.is_check = true,
                (Some(Kind::Cannon), 2) => danger.pinned |= inside & own,
                (Some(Kind::Cannon), _) => {}
                (_, 0) => danger.is_check = true,
                (_, 1) => danger.pinned |= inside & own,
                _ => {}
            }
        }
        let horses = self.kind(Kind::Horse) & enemy;
        for jump in HORSE_TO[general.index()]
            .iter()
            .filter(|jump| !(jump.ends & horses).is_empty())
        {
            let leg = jump.over & occupied;
            danger.is_check |= leg.is_empty();
            danger.pinned |= leg & own;
        }
        let soldiers =
            SOLDIER_TO[side.other().index()][general.index()] & self.kind(Kind::Soldier) & enemy;
        danger.is_check |= !soldiers.is_empty();
        Some(danger)
    }

    /// Returns the points that the piece on `from` may legally go to.
    #[must_use]
    pub fn legal_targets(&self, from: Square, piece: Piece, danger: &Danger) -> Squares {
        let targets = self.targets(from, piece);
        if piece.kind == Kind::General || danger.is_check || danger.pinned.has(from) {
            targets
                .into_iter()
                .filter(|&to| self.is_safe(from, to, piece))
                .collect()
        } else {
            targets & !danger.screens
        }
    }

    /// Whether the move leaves its own general unattacked.
    #[must_use]
    pub fn is_safe(&self, from: Square, to: Square, piece: Piece) -> bool {
        let general = if piece.kind == Kind::General {
            Some(to)
        } else {
            self.general(piece.side)
        };
        let (left, entered) = (Squares::one(from), Squares::one(to));
        let (enemy, occupied) = (piece.side.other(), self.occupied() & !left | entered);
        general.is_some_and(|general| {
            !self.is_attacked(general, enemy, occupied, self.side(enemy) & !entered)
        })
    }
}
