use kagetsu_game::Move;
use kagetsu_game::{RuleName, Symmetry, Variant};

use super::points::{MAX_POINTS, Zone};

/// Directions of rows: columns to the right, and rows up.
const DIRECTIONS: [(isize, isize); 4] = [(1, 0), (0, 1), (1, 1), (-1, 1)];

/// A set of rows of five points. A row is named by its direction and its first point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet([Zone; DIRECTIONS.len()]);

impl RowSet {
    fn combine(self, other: Self, combine: impl Fn(Zone, Zone) -> Zone) -> Self {
        Self(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.combine(other, Zone::or)
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.combine(other, Zone::and)
    }

    pub(super) fn without(self, other: Self) -> Self {
        self.combine(other, Zone::without)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.iter().all(Zone::is_empty)
    }
}

/// The points of a board and its rows of five, for freestyle and standard gomoku.
#[derive(Debug)]
pub(super) struct BoardRows {
    size: usize,
    /// Whether six in a row are no win.
    is_exact: bool,
    pub(super) full: Zone,
    /// All rows of five points.
    rows: RowSet,
    /// The distance of two neighbours in a row, by the code of the move.
    steps: [usize; DIRECTIONS.len()],
}

/// The number of stones in each row, as binary digits.
#[derive(Clone, Copy)]
pub(super) struct RowCounts {
    ones: RowSet,
    twos: RowSet,
    fours: RowSet,
}

impl RowCounts {
    /// Returns the rows with at least `least` stones, of at most 4.
    pub(super) fn at_least(self, least: usize) -> RowSet {
        let Self { ones, twos, fours } = self;
        match least {
            0 => RowSet([Zone::default().not(); DIRECTIONS.len()]),
            1 => ones.or(twos).or(fours),
            2 => twos.or(fours),
            3 => twos.and(ones).or(fours),
            _ => fours,
        }
    }
}

impl BoardRows {
    /// Returns the rows of a variant; `None` where it has no zones.
    pub(super) fn new(variant: Variant) -> Option<Self> {
        let (rule, size) = variant.gomoku()?;
        let size = usize::from(size);
        if size * size > MAX_POINTS || rule == RuleName::Renju {
            return None;
        }
        let firsts = |(right, up): (isize, isize)| {
            let on_board = |at: &usize| {
                let column = (at % size) as isize + 4 * right;
                let row = (at / size) as isize + 4 * up;
                (0..size as isize).contains(&column) && row < size as isize
            };
            let points = (0..size * size).filter(on_board);
            points.fold(Zone::default(), Zone::with)
        };
        Some(Self {
            size,
            is_exact: rule == RuleName::Standard,
            full: (0..size * size).fold(Zone::default(), Zone::with),
            rows: RowSet(DIRECTIONS.map(firsts)),
            steps: DIRECTIONS.map(|(right, up)| (up * size as isize + right) as usize),
        })
    }

    /// Returns the rows with at least one of these points.
    pub(super) fn through(&self, points: Zone) -> RowSet {
        RowSet(std::array::from_fn(|direction| {
            let step = self.steps[direction];
            let touched = (0..5).map(|at| points.back(at * step));
            touched.fold(Zone::default(), Zone::or)
        }))
        .and(self.rows)
    }

    /// Returns the rows without any of these points.
    pub(super) fn outside(&self, points: Zone) -> RowSet {
        self.rows.without(self.through(points))
    }

    /// Returns the points of some rows.
    pub(super) fn points(&self, rows: RowSet) -> Zone {
        let points = rows.0.iter().zip(self.steps);
        points.fold(Zone::default(), |all, (first, step)| {
            (0..5).fold(all, |all, at| all.or(first.ahead(at * step)))
        })
    }

    /// Returns the number of these points in each row.
    pub(super) fn counts(&self, points: Zone) -> RowCounts {
        let none = RowSet::default();
        let (mut ones, mut twos, mut fours) = (none, none, none);
        for (direction, step) in self.steps.into_iter().enumerate() {
            let count = (&mut ones.0[direction], &mut twos.0[direction]);
            for at in 0..5 {
                let stones = points.back(at * step);
                let carry = count.0.and(stones);
                *count.0 = count.0.xor(stones);
                fours.0[direction] = fours.0[direction].or(count.1.and(carry));
                *count.1 = count.1.xor(carry);
            }
        }
        let [ones, twos, fours] = [ones, twos, fours].map(|digit| digit.and(self.rows));
        RowCounts { ones, twos, fours }
    }

    /// Whether the side with these stones, which is to move, can make a five on one of the points.
    pub(super) fn can_make_five(&self, stones: Zone, points: Zone) -> bool {
        points
            .points()
            .any(|point| self.makes_five(stones.with(point), point))
    }

    /// Whether the stone on a point belongs to a five.
    pub(super) fn makes_five(&self, stones: Zone, point: usize) -> bool {
        let size = self.size as isize;
        let (column, row) = ((point % self.size) as isize, (point / self.size) as isize);
        let run = |right: isize, up: isize| {
            let on = |step: isize| {
                let (column, row) = (column + step * right, row + step * up);
                (0..size).contains(&column)
                    && (0..size).contains(&row)
                    && stones.has((row * size + column) as usize)
            };
            (1_isize..).take_while(|step| on(*step)).count()
                + (1_isize..).take_while(|step| on(-step)).count()
        };
        DIRECTIONS.into_iter().any(|(right, up)| {
            let length = 1 + run(right, up);
            if self.is_exact {
                length == 5
            } else {
                length >= 5
            }
        })
    }

    /// Returns the point of a move under a symmetry; `None` if it is not on the board.
    pub(super) fn image(&self, m: Move, turn: Symmetry) -> Option<usize> {
        if m.index() >= self.size * self.size {
            return None;
        }
        if turn == Symmetry::IDENTITY {
            return Some(m.index());
        }
        let size = self.size as u8;
        let (column, row) = turn.square(
            size,
            (m.index() % self.size) as u8,
            (m.index() / self.size) as u8,
        );
        Some(usize::from(row) * self.size + usize::from(column))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_found_one_by_one(
            stones in proptest::collection::vec(any::<bool>(), 256),
            size in 5_usize..=16,
        ) {
            let variant = format!("freestyle-{size}").parse().expect("a variant");
            let board = BoardRows::new(variant).expect("freestyle");
            let stones = (0..size * size).filter(|at| stones[*at]).fold(Zone::default(), Zone::with);
            let on = |at: isize| (0..size as isize).contains(&at);
            for (direction, (right, up)) in DIRECTIONS.into_iter().enumerate() {
                for at in 0..MAX_POINTS {
                    let (column, row) = ((at % size) as isize, (at / size) as isize);
                    let is_row = on(row) && on(column + 4 * right) && on(row + 4 * up);
                    let point = |step| ((row + step * up) * size as isize + column + step * right) as usize;
                    let count = if is_row { (0..5).filter(|step| stones.has(point(*step))).count() } else { 0 };
                    let has = |rows: RowSet| rows.0[direction].has(at);
                    for least in 1..=4 {
                        prop_assert_eq!(has(board.counts(stones).at_least(least)), count >= least);
                    }
                    prop_assert_eq!(has(board.through(stones)), count > 0);
                    prop_assert_eq!(has(board.outside(stones)), is_row && count == 0);
                    if is_row {
                        let mut only = RowSet::default();
                        only.0[direction] = Zone::default().with(at);
                        let points = (0..5).map(point).fold(Zone::default(), Zone::with);
                        prop_assert_eq!(board.points(only), points);
                    }
                }
            }
        }
    }
}
