//! Building end tables, slice by slice from few stones to many, by retrograde analysis.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrayvec::ArrayVec;
use kagetsu_game::surakarta::{NEIGHBOURS, routes};
use rayon::prelude::*;

use super::super::rings::points;
use super::index::PlaceIndex;
use super::{END_TABLE_PIECES, Slice, Tables, UNUSED, WIN, all_stones, majority};

/// Builds the end tables of up to `pieces` (2 to 7) stones on all cores. Returns the content of the
/// file. `progress` hears of both sides' stones in each pair of slices that is ready, and of its
/// longest stretch.
pub fn build_end_tables(pieces: u8, progress: &mut dyn FnMut(usize, usize, u8)) -> Vec<u8> {
    let pieces = pieces.clamp(*END_TABLE_PIECES.start(), *END_TABLE_PIECES.end());
    let mut tables = Tables {
        pieces,
        index: PlaceIndex::new(pieces),
        slices: all_stones(pieces).map(|_| Slice::default()).collect(),
    };
    for (mover, other) in all_stones(pieces).filter(|(mover, other)| mover <= other) {
        let longest = tables.solve([(mover, other), (other, mover)]);
        progress(mover, other, longest);
    }
    tables.write()
}

/// Returns the empty points beside a point.
fn steps(point: u8, occupied: u64) -> impl Iterator<Item = u8> {
    points(NEIGHBOURS[usize::from(point)] & !occupied)
}

impl Tables {
    /// Fills a slice and the one with the sides swapped. Each round gives the values with one more
    /// quiet ply, until none changes. Returns the number of rounds.
    fn solve(&mut self, slices: [(usize, usize); 2]) -> u8 {
        let mut changed = slices.map(|slice| self.begin(slice));
        let mut rounds = 0;
        while changed.iter().any(|places| !places.is_empty()) {
            rounds += 1;
            // The positions before those of one slice are in the other.
            let [one, other] = [0, 1].map(|side| {
                self.revise(
                    slices[side],
                    &self.before(slices[1 - side], &changed[1 - side]),
                )
            });
            changed = [(slices[0], one), (slices[1], other)].map(|((mover, other), news)| {
                let slice = &mut self.slices[Self::slice_at(mover, other)];
                let set = |(place, value): (u32, u8)| {
                    slice.set(place as usize, value);
                    place
                };
                news.into_iter().map(set).collect()
            });
        }
        for (mover, other) in slices {
            self.slices[Self::slice_at(mover, other)].longest = rounds;
        }
        rounds
    }

    /// Gives each place of a slice its value where one quiet ply is left. Returns the places whose
    /// value is not that of the numbers of stones.
    fn begin(&mut self, (mover, other): (usize, usize)) -> Vec<u32> {
        let (places, usual) = (self.index.places(mover, other), majority(mover, other));
        let value = |place: usize| {
            if place >= places {
                return UNUSED;
            }
            let (own, his) = self.index.position(mover, other, place);
            if self.index.place(own, his) == place {
                self.best(own, his, |_| usual)
            } else {
                UNUSED
            }
        };
        let mut values = vec![0; places.div_ceil(4)];
        let fill = |(byte, values): (usize, &mut u8)| {
            let mut changed = ArrayVec::<u32, 4>::new();
            for part in 0..4 {
                let value = value(4 * byte + part);
                *values |= value << (2 * part);
                if value != usual && value != UNUSED {
                    changed.push((4 * byte + part) as u32);
                }
            }
            changed
        };
        let changed = values
            .par_iter_mut()
            .enumerate()
            .flat_map_iter(fill)
            .collect();
        self.slices[Self::slice_at(mover, other)].values = values;
        changed
    }

    /// Returns the best of the captures and of the quiet moves, whose values for the mover follow
    /// from its stones after them; the result by the numbers of stones where there is no move.
    fn best(&self, own: u64, his: u64, quiet: impl Fn(u64) -> u8) -> u8 {
        let mut best = None;
        for from in points(own) {
            for to in points(his) {
                if routes(from, to).any(|passed| passed & (own | his) == 0) {
                    let after = own ^ 1 << from ^ 1 << to;
                    best = best.max(Some(WIN - self.value(his ^ 1 << to, after)));
                }
            }
        }
        for from in points(own) {
            for to in steps(from, own | his) {
                if best == Some(WIN) {
                    return WIN;
                }
                best = best.max(Some(quiet(own ^ 1 << from ^ 1 << to)));
            }
        }
        best.unwrap_or_else(|| majority(own.count_ones() as usize, his.count_ones() as usize))
    }

    /// Marks the places of the positions from which a quiet move leads to one of these.
    fn before(&self, (mover, other): (usize, usize), places: &[u32]) -> Vec<AtomicU64> {
        let words = self.index.places(other, mover).div_ceil(64);
        let marks: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
        places.par_iter().for_each(|&place| {
            let (own, his) = self.index.position(mover, other, place as usize);
            for to in points(his) {
                for from in steps(to, own | his) {
                    let place = self.index.place(his ^ 1 << to ^ 1 << from, own);
                    marks[place / 64].fetch_or(1 << (place % 64), Relaxed);
                }
            }
        });
        marks
    }

    /// Returns the marked places whose value changes, with the new value.
    fn revise(&self, (mover, other): (usize, usize), marks: &[AtomicU64]) -> Vec<(u32, u8)> {
        let (slice, after) = (self.slice(mover, other), self.slice(other, mover));
        let revise = |(word, marks): (usize, &AtomicU64)| {
            points(marks.load(Relaxed)).filter_map(move |bit| {
                let place = word * 64 + usize::from(bit);
                let (own, his) = self.index.position(mover, other, place);
                let quiet = |own| WIN - after.get(self.index.place(his, own));
                let new = self.best(own, his, quiet);
                (new != slice.get(place)).then_some((place as u32, new))
            })
        };
        marks.par_iter().enumerate().flat_map_iter(revise).collect()
    }
}
