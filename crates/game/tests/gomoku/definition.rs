//! The federation's definitions of renju in their plainest form: sets of points, whole lines, no
//! tables. It is slow and shares nothing with the fast code that it judges.

use kagetsu_game::gomoku::Forbidden;

/// Columns and rows, from 0.
pub(crate) type Point = (i32, i32);

const DIRECTIONS: [Point; 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

/// A set of points of a board of at most 22 columns and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Points([u64; 8]);

impl Points {
    pub(crate) fn has(&self, (x, y): Point) -> bool {
        let at = (y * 22 + x) as usize;
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    pub(crate) fn toggle(&mut self, (x, y): Point) {
        let at = (y * 22 + x) as usize;
        self.0[at / 64] ^= 1 << (at % 64);
    }

    fn and(mut self, point: Point) -> Self {
        if !self.has(point) {
            self.toggle(point);
        }
        self
    }

    fn without(mut self, point: Point) -> Self {
        if self.has(point) {
            self.toggle(point);
        }
        self
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Board {
    pub(crate) size: i32,
    pub(crate) black: Points,
    pub(crate) white: Points,
}

impl Board {
    pub(crate) fn is_on(&self, (x, y): Point) -> bool {
        (0..self.size).contains(&x) && (0..self.size).contains(&y)
    }

    pub(crate) fn is_empty(&self, point: Point) -> bool {
        self.is_on(point) && !self.black.has(point) && !self.white.has(point)
    }

    fn with(&self, point: Point) -> Self {
        Self {
            black: self.black.and(point),
            ..*self
        }
    }

    /// Returns the empty points of the line through `point`.
    fn empties(&self, (x, y): Point, (dx, dy): Point) -> impl Iterator<Item = Point> {
        let line = (-self.size..=self.size).map(move |n| (x + n * dx, y + n * dy));
        line.filter(|&at| self.is_empty(at))
    }

    /// Returns the unbroken row of black stones through the black stone on `point`.
    fn unbroken_row(&self, point: Point, (dx, dy): Point) -> Points {
        let mut row = Points::default().and(point);
        for sign in [1, -1] {
            let mut at = (point.0 + sign * dx, point.1 + sign * dy);
            while self.is_on(at) && self.black.has(at) {
                row = row.and(at);
                at = (at.0 + sign * dx, at.1 + sign * dy);
            }
        }
        row
    }

    /// "Row with five black stones ... unbroken", and not six.
    fn is_five(&self, point: Point) -> bool {
        DIRECTIONS
            .iter()
            .any(|&direction| self.unbroken_row(point, direction).len() == 5)
    }

    fn is_overline(&self, point: Point) -> bool {
        DIRECTIONS
            .iter()
            .any(|&direction| self.unbroken_row(point, direction).len() >= 6)
    }

    /// Returns the fours through the stone on `point`, each with the number of points that make it
    /// a five.
    fn fours(&self, point: Point, direction: Point) -> Vec<(Points, u32)> {
        let mut fours: Vec<(Points, u32)> = Vec::new();
        for e in self.empties(point, direction) {
            let five = self.with(e).unbroken_row(e, direction);
            if five.len() == 5 && five.has(point) {
                let four = five.without(e);
                match fours.iter_mut().find(|(known, _)| *known == four) {
                    Some((_, ways)) => *ways += 1,
                    None => fours.push((four, 1)),
                }
            }
        }
        fours
    }

    /// Whether the stone on `point` belongs to a three of the line: one more stone makes a straight
    /// four of it, without making a five, by a move that is not forbidden.
    fn is_three(&self, point: Point, direction: Point) -> bool {
        self.empties(point, direction).any(|e| {
            let then = self.with(e);
            let straight = then
                .fours(e, direction)
                .iter()
                .any(|(four, ways)| *ways == 2 && four.has(point));
            straight && !then.is_five(e) && then.reason(e).is_none()
        })
    }

    /// Returns why the black stone just placed on `point` is forbidden.
    fn reason(&self, point: Point) -> Option<Forbidden> {
        let fours = || {
            DIRECTIONS
                .iter()
                .map(|&direction| self.fours(point, direction).len())
                .sum::<usize>()
        };
        let threes = || {
            DIRECTIONS
                .iter()
                .filter(|&&direction| self.is_three(point, direction))
                .count()
        };
        if self.is_five(point) {
            None
        } else if self.is_overline(point) {
            Some(Forbidden::Overline)
        } else if fours() >= 2 {
            Some(Forbidden::DoubleFour)
        } else if threes() >= 2 {
            Some(Forbidden::DoubleThree)
        } else {
            None
        }
    }

    /// Returns why Black may not play the empty `point`.
    pub(crate) fn forbidden(&self, point: Point) -> Option<Forbidden> {
        self.with(point).reason(point)
    }
}

impl std::fmt::Display for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for y in (0..self.size).rev() {
            for at in (0..self.size).map(|x| (x, y)) {
                let mark = if self.black.has(at) {
                    'X'
                } else if self.white.has(at) {
                    'O'
                } else {
                    '.'
                };
                write!(f, "{mark}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
