use kagetsu_game::{Move, RuleName, Symmetry, Variant};

use super::board::ZoneBoard;
use super::points::{MAX_POINTS, Zone};

/// The rows of five points of one direction.
#[derive(Debug)]
struct Rows {
    /// The distance of two neighbours, by the code of the move.
    step: usize,
    /// The first point of each row. A row is named by it.
    first: Zone,
}

impl Rows {
    /// Returns the rows without any of these stones.
    fn without(&self, stones: Zone) -> Zone {
        (0..5).fold(self.first, |rows, at| {
            rows.without(stones.back(at * self.step))
        })
    }

    /// Returns the number of these points in each row.
    fn counts(&self, points: Zone) -> StoneCounts {
        let mut counts = StoneCounts::default();
        (0..5).for_each(|at| counts.add(points.back(at * self.step)));
        counts
    }

    /// Returns the points of some rows.
    fn points(&self, rows: Zone) -> Zone {
        let points = (0..5).map(|at| rows.ahead(at * self.step));
        points.fold(Zone::default(), Zone::or)
    }
}

/// The points of a board and its rows of five, for freestyle and standard gomoku.
#[derive(Debug)]
pub(super) struct BoardRows {
    size: usize,
    /// Whether six in a row are no win.
    is_exact: bool,
    pub(super) full: Zone,
    /// All rows of five points, by direction.
    rows: [Rows; 4],
}

/// The binary digits of a number for each point.
#[derive(Clone, Copy, Default)]
struct StoneCounts {
    ones: Zone,
    twos: Zone,
    fours: Zone,
}

impl StoneCounts {
    fn add(&mut self, points: Zone) {
        let carry = self.ones.and(points);
        self.ones = self.ones.xor(points);
        self.fours = self.fours.or(self.twos.and(carry));
        self.twos = self.twos.xor(carry);
    }

    /// Returns the points whose number, of at most 5, is at least `least`.
    fn at_least(self, least: u8) -> Zone {
        let Self { ones, twos, fours } = self;
        match least {
            0 => Zone::default().not(),
            1 => ones.or(twos).or(fours),
            2 => twos.or(fours),
            3 => twos.and(ones).or(fours),
            4 => fours,
            5 => fours.and(ones),
            _ => Zone::default(),
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
        Some(Self {
            size,
            is_exact: rule == RuleName::Standard,
            full: (0..size * size).fold(Zone::default(), Zone::with),
            rows: rows_of_five(size),
        })
    }

    /// Returns the points on which the loser may make a five, and those that matter since the loser
    /// may make one with its passes and a reply.
    pub(super) fn loser_rows(&self, board: ZoneBoard) -> (Zone, Zone) {
        let ZoneBoard { own, foe, passes } = board;
        let (mut fives, mut zone) = (Zone::default(), Zone::default());
        for rows in &self.rows {
            let (open, counts) = (rows.without(own), rows.counts(foe));
            let full = open.and(counts.at_least(4));
            let near = if passes == 0 {
                Zone::default()
            } else {
                open.and(counts.at_least(4_u8.saturating_sub(passes)))
            };
            fives = fives.or(rows.points(full));
            zone = zone.or(rows.points(near));
        }
        (fives.without(foe), zone.without(foe))
    }

    /// Whether a row of five without these stones of the winner has one of the points `through` and
    /// at least this many of `stones`.
    pub(super) fn has_row(&self, own: Zone, stones: Zone, through: Zone, least: u8) -> bool {
        self.rows.iter().any(|rows| {
            let wanted = rows.counts(stones).at_least(least);
            let touched = rows.counts(through).at_least(1);
            !rows.without(own).and(wanted).and(touched).is_empty()
        })
    }

    /// Whether a stone of the loser on one of these points makes a five.
    pub(super) fn loser_has_five(&self, stones: Zone, points: Zone) -> bool {
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
        let directions = [(1, 0), (0, 1), (1, 1), (1, -1)];
        directions.into_iter().any(|(right, up)| {
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

fn rows_of_five(size: usize) -> [Rows; 4] {
    // Columns to the right, and rows up.
    [(1, 0), (0, 1), (1, 1), (-1, 1)].map(|(right, up): (isize, usize)| {
        let on_board = |column: usize, row: usize| {
            let last = column as isize + 4 * right;
            (0..size as isize).contains(&last) && row + 4 * up < size
        };
        let points = (0..size * size).filter(|at| on_board(at % size, at / size));
        Rows {
            step: (up * size).wrapping_add_signed(right),
            first: points.fold(Zone::default(), Zone::with),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same as [`BoardRows::loser_rows`], row by row.
    fn row_by_row(size: usize, board: ZoneBoard) -> (Zone, Zone) {
        let (mut fives, mut zone) = (Zone::default(), Zone::default());
        let limit = size as isize;
        let on = |at: isize| (0..limit).contains(&at);
        for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for (column, row) in (0..limit).flat_map(|c| (0..limit).map(move |r| (c, r))) {
                if !on(column + 4 * right) || !on(row + 4 * up) {
                    continue;
                }
                let point = |step| ((row + step * up) * limit + column + step * right) as usize;
                let row: Vec<usize> = (0..5).map(point).collect();
                let count = row.iter().filter(|at| board.foe.has(**at)).count();
                if row.iter().any(|at| board.own.has(*at)) {
                    continue;
                }
                let empty = row.into_iter().filter(|at| !board.foe.has(*at));
                let empty = empty.fold(Zone::default(), Zone::with);
                if count >= 4 {
                    fives = fives.or(empty);
                }
                if board.passes > 0 && count + usize::from(board.passes) + 1 >= 5 {
                    zone = zone.or(empty);
                }
            }
        }
        (fives, zone)
    }

    proptest! {
        #[test]
        fn rows_of_the_loser_are_those_found_one_by_one(
            stones in proptest::collection::vec(0_u8..4, 256),
            size in 5_usize..=16,
            passes in 0_u8..=2,
        ) {
            let variant = format!("freestyle-{size}").parse().expect("a variant");
            let rows = BoardRows::new(variant).expect("freestyle");
            let of = |kinds: &[u8]| {
                let points = (0..size * size).filter(|at| kinds.contains(&stones[*at]));
                points.fold(Zone::default(), Zone::with)
            };
            // Many stones of the loser, as full rows are rare otherwise.
            let board = ZoneBoard { own: of(&[0]), foe: of(&[1, 2]), passes };
            prop_assert_eq!(rows.loser_rows(board), row_by_row(size, board));
        }
    }
}
