use super::circuits::{VICTIMS, is_open};
use super::{POINTS, SIZE};
use crate::Side;

/// The stones of both sides, one bit a point; bit 0 is `a1`, bit 6 `a2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Board {
    stones: [u64; 2],
}

const ALL: u64 = (1 << POINTS) - 1;

/// The neighbours of each point; bit `n` is point `n`.
pub static NEIGHBOURS: [u64; POINTS] = neighbours();

const fn neighbours() -> [u64; POINTS] {
    let mut table = [0; POINTS];
    let mut pair = 0;
    while pair < POINTS * POINTS {
        let (one, two) = (pair / POINTS, pair % POINTS);
        let near = (one % SIZE).abs_diff(two % SIZE) <= 1 && (one / SIZE).abs_diff(two / SIZE) <= 1;
        if near && one != two {
            table[one] |= 1 << two;
        }
        pair += 1;
    }
    table
}

/// Returns the numbers of the set bits, ascending.
pub(super) fn points(mut set: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let point = set.trailing_zeros() as u8;
        let rest = set & set.wrapping_sub(1);
        (core::mem::replace(&mut set, rest) != 0).then_some(point)
    })
}

impl Board {
    /// The start: two full rows for each side, the first side's at the bottom.
    pub const START: Self = Self {
        stones: [(1 << 12) - 1, ALL & !((1 << 24) - 1)],
    };

    /// Returns the stones of a side.
    #[must_use]
    pub const fn stones(&self, side: Side) -> u64 {
        self.stones[side.index()]
    }

    /// Returns the number of stones of a side.
    #[must_use]
    pub const fn count(&self, side: Side) -> u16 {
        self.stones(side).count_ones() as u16
    }

    /// Returns the side whose stone is on a point.
    #[must_use]
    pub fn at(&self, point: u8) -> Option<Side> {
        [Side::First, Side::Second]
            .into_iter()
            .find(|&side| self.stones(side) >> point & 1 != 0)
    }

    /// Puts a stone on the point, or takes it off.
    pub(super) fn flip(&mut self, point: u8, side: Side) {
        self.stones[side.index()] ^= 1 << point;
    }

    /// Returns the points that a stone of `side` on `from` may go to: steps and captures.
    #[must_use]
    pub fn targets(&self, from: u8, side: Side) -> u64 {
        let occupied = self.stones[0] | self.stones[1];
        let steps = NEIGHBOURS[usize::from(from)] & !occupied;
        let within_reach = VICTIMS[usize::from(from)] & self.stones(side.other());
        let captures = points(within_reach).filter(|&to| is_open(from, to, occupied));
        captures.fold(steps, |targets, to| targets | 1 << to)
    }

    /// Returns every stone of the side with its targets.
    pub(super) fn all_targets(&self, side: Side) -> impl Iterator<Item = (u8, u64)> {
        points(self.stones(side)).map(move |from| (from, self.targets(from, side)))
    }
}
