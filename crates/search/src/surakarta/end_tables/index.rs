//! The places of positions in a slice: all positions in which the side to move has so many stones
//! and the other so many.
//!
//! The stones of the larger side (of the side to move, if they are equal) are turned to the first
//! of their eight images. The place is the number of that image, times the number of ways to put
//! the other stones on the free points, plus the number of the way. Where a symmetry leaves the
//! larger side's stones unchanged, positions that are equal under it share the least place, and
//! the other places stay unused.

use kagetsu_game::Symmetry;
use kagetsu_game::surakarta::{POINTS, SIZE};

use super::super::rings::points;

/// Most stones of a table.
pub(super) const MAX_STONES: usize = 7;

/// Bits of an entry of [`Subsets::places`] below the number of the representative: whether several
/// symmetries lead to it, and the number of one that does.
const IS_SYMMETRIC: u32 = 8;
const TURN: u32 = 7;
const TURN_BITS: u32 = 4;

/// The sets of so many points, up to symmetry.
#[derive(Debug, Default)]
struct Subsets {
    /// For each set, in numeric order, its representative with the symmetry that leads to it.
    places: Vec<u32>,
    /// The least image of each class, ascending.
    representatives: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct PlaceIndex {
    /// Binomial coefficients: sets of so many points among so many.
    choices: [[u32; MAX_STONES + 1]; POINTS + 1],
    /// The images of each point under the symmetries of the square.
    turns: [[u8; POINTS]; 8],
    /// By number of points.
    subsets: Vec<Subsets>,
}

impl PlaceIndex {
    /// Prepares the slices of at most `pieces` stones.
    pub(super) fn new(pieces: u8) -> Self {
        let mut choices = [[0; MAX_STONES + 1]; POINTS + 1];
        for n in 0..=POINTS {
            choices[n][0] = 1;
            for k in 1..=MAX_STONES.min(n) {
                choices[n][k] = choices[n - 1][k - 1] + choices[n - 1][k];
            }
        }
        let turns = std::array::from_fn(|turn| {
            std::array::from_fn(|point| {
                let (x, y) = ((point % SIZE) as u8, (point / SIZE) as u8);
                let (x, y) = Symmetry::new(turn as u8).square(SIZE as u8, x, y);
                y * SIZE as u8 + x
            })
        });
        let mut index = Self {
            choices,
            turns,
            subsets: vec![Subsets::default()],
        };
        for size in 1..usize::from(pieces) {
            let subsets = index.classify(size);
            index.subsets.push(subsets);
        }
        index
    }

    fn classify(&self, size: usize) -> Subsets {
        let mut subsets = Subsets::default();
        for number in 0..self.choices[POINTS][size] {
            let set = self.set(number, size);
            let images: [u64; 8] = std::array::from_fn(|turn| self.turned(set, turn));
            let least = images.into_iter().min().unwrap_or(set);
            let same = images.iter().filter(|image| **image == least).count();
            let turn = images.iter().position(|image| *image == least).unwrap_or(0) as u32;
            // The least image comes first, so its class has a number.
            let class = if least == set {
                subsets.representatives.push(set);
                subsets.representatives.len() as u32 - 1
            } else {
                subsets.places[self.number(least) as usize] >> TURN_BITS
            };
            let is_symmetric = if same > 1 { IS_SYMMETRIC } else { 0 };
            subsets
                .places
                .push(class << TURN_BITS | is_symmetric | turn);
        }
        subsets
    }

    /// Returns the image of a set of points.
    fn turned(&self, set: u64, turn: usize) -> u64 {
        points(set).fold(0, |image, point| {
            image | 1 << self.turns[turn][usize::from(point)]
        })
    }

    /// Returns the number of a set among those of its size, in numeric order.
    fn number(&self, set: u64) -> u32 {
        let places = points(set).zip(1..);
        places
            .map(|(point, k)| self.choices[usize::from(point)][k])
            .sum()
    }

    /// Returns the set of `size` points with this number.
    fn set(&self, mut number: u32, size: usize) -> u64 {
        let (mut set, mut point) = (0, POINTS);
        for k in (1..=size).rev() {
            point -= 1;
            while self.choices[point][k] > number {
                point -= 1;
            }
            number -= self.choices[point][k];
            set |= 1 << point;
        }
        set
    }

    /// Returns the number of places of a slice.
    pub(super) fn places(&self, mover: usize, other: usize) -> usize {
        let (larger, smaller) = (mover.max(other), mover.min(other));
        self.subsets[larger].representatives.len() * self.choices[POINTS - larger][smaller] as usize
    }

    /// Returns the place of a position in its slice.
    pub(super) fn place(&self, mover: u64, other: u64) -> usize {
        let (larger, smaller) = if mover.count_ones() >= other.count_ones() {
            (mover, other)
        } else {
            (other, mover)
        };
        let size = larger.count_ones() as usize;
        let subsets = &self.subsets[size];
        let entry = subsets.places[self.number(larger) as usize];
        let class = entry >> TURN_BITS;
        let set = subsets.representatives[class as usize];
        let way = |turn: u32| {
            let image = self.turned(smaller, turn as usize);
            let places = points(image).zip(1..);
            let free = |point: u8| u32::from(point) - (set & ((1 << point) - 1)).count_ones();
            places
                .map(|(point, k)| self.choices[free(point) as usize][k])
                .sum()
        };
        let way: u32 = if entry & IS_SYMMETRIC == 0 {
            way(entry & TURN)
        } else {
            let turns = (0..8).filter(|&turn| self.turned(larger, turn as usize) == set);
            turns.map(way).min().unwrap_or(0)
        };
        let ways = self.choices[POINTS - size][smaller.count_ones() as usize];
        class as usize * ways as usize + way as usize
    }

    /// Returns the position at a place of a slice, as the stones of the side to move and those of
    /// the other. At an unused place it is one whose own place is another.
    pub(super) fn position(&self, mover: usize, other: usize, place: usize) -> (u64, u64) {
        let (larger, smaller) = (mover.max(other), mover.min(other));
        let ways = self.choices[POINTS - larger][smaller] as usize;
        let set = self.subsets[larger].representatives[place / ways];
        let way = self.set((place % ways) as u32, smaller);
        let mut rest = 0;
        let mut free = points(!set & ((1 << POINTS) - 1)).enumerate();
        for chosen in points(way) {
            let point = free.find(|(number, _)| *number == usize::from(chosen));
            rest |= point.map_or(0, |(_, point)| 1 << point);
        }
        if mover >= other {
            (set, rest)
        } else {
            (rest, set)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_one_place() {
        let index = PlaceIndex::new(4);
        // The second program counts as many.
        for (mover, other, expected) in [(1, 1, 165), (1, 2, 2_715), (2, 2, 44_481), (3, 1, 29_580)]
        {
            let mut used = 0;
            for place in 0..index.places(mover, other) {
                let (own, his) = index.position(mover, other, place);
                let stones = [own, his].map(|set| set.count_ones() as usize);
                assert!(own & his == 0 && stones == [mover, other]);
                let least = index.place(own, his);
                used += u32::from(least == place);
                let image = |turn| index.place(index.turned(own, turn), index.turned(his, turn));
                assert!((0..8).map(image).all(|image| image == least));
            }
            assert_eq!(used, expected);
        }
    }
}
