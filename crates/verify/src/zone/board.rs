use kagetsu_game::{Move, Position, Side};

use super::points::Zone;

/// The stones of a position, and passes of the loser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZoneBoard {
    /// Stones of the winner.
    pub(super) own: Zone,
    /// Stones of the loser.
    pub(super) foe: Zone,
    pub(super) passes: u8,
}

impl ZoneBoard {
    /// Returns a position, with passes of the loser behind it.
    pub(super) fn new(position: &Position, winner: Side, passes: u8) -> Option<Self> {
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
        Some(Self { own, foe, passes })
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

    pub(super) fn with_pass(self) -> Self {
        let passes = self.passes + 1;
        Self { passes, ..self }
    }
}
