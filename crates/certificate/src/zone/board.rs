use kagetsu_game::{Move, Position, Side};

use super::points::Zone;

/// The stones of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZoneBoard {
    /// Stones of the winner.
    pub(super) own: Zone,
    /// Stones of the loser.
    pub(super) foe: Zone,
}

impl ZoneBoard {
    /// Returns the stones of a position; `None` outside gomoku.
    pub(super) fn new(position: &Position, winner: Side) -> Option<Self> {
        let of = |stones: &[Move]| {
            let stones = stones.iter().map(|m| m.index());
            stones.fold(Zone::default(), Zone::with)
        };
        let [first, second] = position.stones()?;
        let (first, second) = (of(&first), of(&second));
        let (own, foe) = if winner == Side::First {
            (first, second)
        } else {
            (second, first)
        };
        Some(Self { own, foe })
    }

    pub(super) fn stones(self) -> Zone {
        self.own.or(self.foe)
    }

    pub(super) fn with_own(self, point: usize) -> Self {
        let own = self.own.with(point);
        Self { own, ..self }
    }

    pub(super) fn with_foe(self, point: usize) -> Self {
        let foe = self.foe.with(point);
        Self { foe, ..self }
    }
}
