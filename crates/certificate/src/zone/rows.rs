use kagetsu_game::gomoku::{Point, allowed};
use kagetsu_game::{Move, Position, RuleName, Side, Symmetry, Variant};

use super::points::{Zone, ZoneBoard};

/// Directions of rows: columns to the right, and rows up.
const DIRECTIONS: [(isize, isize); 4] = [(1, 0), (0, 1), (1, 1), (-1, 1)];

/// Points on each side of a window: the rows of five with a point of the window lie within them.
const MARGIN: usize = 4;

/// A set of rows of five points. A row is named by its direction and its first point. All points
/// beyond a window are one more row, of the first direction, named by [`BoardRows::FAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowSet<const WORDS: usize>([Zone<WORDS>; DIRECTIONS.len()]);

impl<const WORDS: usize> Default for RowSet<WORDS> {
    fn default() -> Self {
        Self([Zone::default(); DIRECTIONS.len()])
    }
}

impl<const WORDS: usize> RowSet<WORDS> {
    fn combine(
        self,
        other: Self,
        combine: impl Fn(Zone<WORDS>, Zone<WORDS>) -> Zone<WORDS>,
    ) -> Self {
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

/// The points of a board and its rows of five, for freestyle, standard gomoku and renju. The board
/// may be a window of the plane, but not in renju.
#[derive(Debug)]
pub(super) struct BoardRows<const WORDS: usize> {
    /// The size of the board or window.
    size: usize,
    /// Points on each side of it that are known.
    margin: usize,
    rule: RuleName,
    /// The points on which the loser may play. On the plane [`Self::FAR`] stands for all that are
    /// not known.
    pub(super) full: Zone<WORDS>,
    /// Those beyond the window.
    pub(super) beyond: Zone<WORDS>,
    /// All rows.
    rows: RowSet<WORDS>,
    /// The distance of two neighbours in a row.
    steps: [usize; DIRECTIONS.len()],
}

/// The number of stones in each row, as binary digits.
#[derive(Clone, Copy)]
pub(super) struct RowCounts<const WORDS: usize> {
    ones: RowSet<WORDS>,
    twos: RowSet<WORDS>,
    fours: RowSet<WORDS>,
}

impl<const WORDS: usize> RowCounts<WORDS> {
    /// Returns the rows with at least `least` stones, of at most 4.
    pub(super) fn at_least(self, least: usize) -> RowSet<WORDS> {
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

impl<const WORDS: usize> BoardRows<WORDS> {
    /// The point that stands for all points of the plane that are not known.
    pub(super) const FAR: usize = Zone::<WORDS>::MAX_POINTS - 1;

    /// Returns the rows of a variant's board, or of the plane with that board as its window; `None`
    /// where it has no zones.
    pub(super) fn new(variant: Variant, is_plane: bool) -> Option<Self> {
        let (rule, size) = variant.gomoku()?;
        let size = usize::from(size);
        let margin = if is_plane { MARGIN } else { 0 };
        let side = size + 2 * margin;
        let is_known = rule <= RuleName::Standard || rule == RuleName::Renju && !is_plane;
        if side * side + margin > Self::FAR + 1 || !is_known {
            return None;
        }
        let firsts = |(right, up): (isize, isize)| {
            let on_board = |at: &usize| {
                let column = (at % side) as isize + 4 * right;
                let row = (at / side) as isize + 4 * up;
                (0..side as isize).contains(&column) && row < side as isize
            };
            let points = (0..side * side).filter(on_board);
            points.fold(Zone::default(), Zone::with)
        };
        let mut full = (0..side * side).fold(Zone::default(), Zone::with);
        let mut rows = RowSet(DIRECTIONS.map(firsts));
        if is_plane {
            full = full.with(Self::FAR);
            rows.0[0] = rows.0[0].with(Self::FAR);
        }
        let mut board = Self {
            size,
            margin,
            rule,
            full,
            beyond: full,
            rows,
            steps: DIRECTIONS.map(|(right, up)| (up * side as isize + right) as usize),
        };
        let codes = (0..size * size).map(|code| board.point(code));
        board.beyond = full.without(codes.fold(Zone::default(), Zone::with));
        Some(board)
    }

    /// Returns the point of a move's code.
    const fn point(&self, code: usize) -> usize {
        let (column, row) = (code % self.size, code / self.size);
        (row + self.margin) * (self.size + 2 * self.margin) + column + self.margin
    }

    /// Returns the move on a point; `None` beyond the window.
    pub(super) fn code(&self, point: usize) -> Option<Move> {
        let side = self.size + 2 * self.margin;
        let (column, row) = (point % side, point / side);
        let code = || (row - self.margin) * self.size + column - self.margin;
        (!self.beyond.has(point)).then(|| Move::new(code() as u16))
    }

    /// Whether there are zones for wins of this side: in renju for Black alone.
    pub(super) fn covers(&self, winner: Side) -> bool {
        self.rule != RuleName::Renju || winner == Side::First
    }

    /// Returns the stones of a position; `None` outside gomoku, and where a win of this side has no
    /// zones.
    pub(super) fn board(&self, position: &Position, winner: Side) -> Option<ZoneBoard<WORDS>> {
        let of = |stones: Vec<Move>| {
            let stones = stones.iter().map(|m| self.point(m.index()));
            stones.fold(Zone::default(), Zone::with)
        };
        let stones = position.stones().filter(|_| self.covers(winner))?;
        let [first, second] = stones.map(of);
        let (own, foe) = match winner {
            Side::First => (first, second),
            Side::Second => (second, first),
        };
        Some(ZoneBoard { own, foe })
    }

    /// Returns the rows with at least one of these points.
    pub(super) fn through(&self, points: Zone<WORDS>) -> RowSet<WORDS> {
        let mut through = RowSet(std::array::from_fn(|direction| {
            let step = self.steps[direction];
            let touched = (0..5).map(|at| points.back(at * step));
            touched.fold(Zone::default(), Zone::or)
        }));
        if !self.beyond.and(points).is_empty() {
            through.0[0] = through.0[0].with(Self::FAR);
        }
        through.and(self.rows)
    }

    /// Returns the rows without any of these points, which lie in the window.
    pub(super) fn outside(&self, points: Zone<WORDS>) -> RowSet<WORDS> {
        self.rows.without(self.through(points))
    }

    /// Returns the points of some rows.
    pub(super) fn points(&self, rows: RowSet<WORDS>) -> Zone<WORDS> {
        let is_far = !self.beyond.is_empty() && rows.0[0].has(Self::FAR);
        let beyond = if is_far { self.beyond } else { Zone::default() };
        let points = rows.0.iter().zip(self.steps);
        points.fold(beyond, |all, (first, step)| {
            (0..5).fold(all, |all, at| all.or(first.ahead(at * step)))
        })
    }

    /// Returns the number of these points in each row; 4 stands for more as well.
    pub(super) fn counts(&self, points: Zone<WORDS>) -> RowCounts<WORDS> {
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
        let [mut ones, mut twos, mut fours] = [ones, twos, fours].map(|digit| digit.and(self.rows));
        let beyond = self.beyond.and(points).len().min(4);
        for (digit, bit) in [(&mut ones, 1), (&mut twos, 2), (&mut fours, 4)] {
            if beyond & bit != 0 {
                digit.0[0] = digit.0[0].with(Self::FAR);
            }
        }
        RowCounts { ones, twos, fours }
    }

    /// Whether the loser with these stones, who is to move, can make a five on one of the points.
    /// With more than three stones beyond the window it may do so.
    pub(super) fn can_make_five(&self, stones: Zone<WORDS>, points: Zone<WORDS>) -> bool {
        let is_exact = self.rule == RuleName::Standard;
        let makes_five = |point| self.is_five(stones.with(point), point, is_exact);
        self.beyond.and(stones).len() > 3 || points.points().any(makes_five)
    }

    /// Whether the winner's stone on a point belongs to a five.
    pub(super) fn makes_five(&self, stones: Zone<WORDS>, point: usize) -> bool {
        self.is_five(stones, point, self.rule != RuleName::Freestyle)
    }

    /// Whether the stone on a point belongs to a row of five or, unless `is_exact`, of more.
    fn is_five(&self, stones: Zone<WORDS>, point: usize, is_exact: bool) -> bool {
        let side = self.size + 2 * self.margin;
        let (column, row) = ((point % side) as isize, (point / side) as isize);
        let side = side as isize;
        let run = |right: isize, up: isize| {
            let on = |step: isize| {
                let (column, row) = (column + step * right, row + step * up);
                (0..side).contains(&column)
                    && (0..side).contains(&row)
                    && stones.has((row * side + column) as usize)
            };
            (1_isize..).take_while(|step| on(*step)).count()
                + (1_isize..).take_while(|step| on(-step)).count()
        };
        DIRECTIONS.into_iter().any(|(right, up)| {
            let length = 1 + run(right, up);
            if is_exact { length == 5 } else { length >= 5 }
        })
    }

    /// Returns points on which the loser may get no stone, and points on which it may lose none, so
    /// that the winner may play one that makes no five; `None` if renju forbids it.
    pub(super) fn allowed(&self, board: ZoneBoard<WORDS>, at: usize) -> Option<[Zone<WORDS>; 2]> {
        if self.rule != RuleName::Renju {
            return Some([Zone::default(); 2]);
        }
        let size = self.size as u8;
        let place = |at: usize| Point::of(Move::new(at as u16), size);
        let lines = |set: Zone<WORDS>| set.points().map(place).collect();
        let (own, foe) = (lines(board.own), lines(board.foe));
        let allowed = allowed(&own, &foe, size, place(at))?;
        Some(allowed.map(|lines| {
            let points = lines.points().map(|at| at.as_move(size).index());
            points.fold(Zone::default(), Zone::with)
        }))
    }

    /// Returns the point of a move under a symmetry; `None` if it is not on the board.
    pub(super) fn image(&self, m: Move, turn: Symmetry) -> Option<usize> {
        if m.index() >= self.size * self.size {
            return None;
        }
        let (column, row) = ((m.index() % self.size) as u8, (m.index() / self.size) as u8);
        let (column, row) = turn.square(self.size as u8, column, row);
        Some(self.point(usize::from(row) * self.size + usize::from(column)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_found_one_by_one(
            stones in proptest::collection::vec(any::<bool>(), 1024),
            size in 5_usize..=16,
            window in 5_usize..=22,
            chance in 1_usize..10,
        ) {
            rows_are_right(BoardRows::<4>::new(variant(size), false).expect("a board"), size, &stones)?;
            let large = window.max(17);
            rows_are_right(BoardRows::<8>::new(variant(large), false).expect("a board"), large, &stones)?;
            // Few of the stones are beyond the window.
            let few = (0..1024).map(|at| stones[at] && at * 31 % 64 < chance).collect::<Vec<_>>();
            rows_are_right(BoardRows::<16>::new(variant(window), true).expect("a window"), window + 8, &few)?;
        }
    }

    fn variant(size: usize) -> Variant {
        format!("freestyle-{size}").parse().expect("a variant")
    }

    fn rows_are_right<const WORDS: usize>(
        board: BoardRows<WORDS>,
        size: usize,
        stones: &[bool],
    ) -> Result<(), TestCaseError> {
        let stones = (0..size * size)
            .filter(|at| stones[*at])
            .fold(Zone::default(), Zone::with);
        let on = |at: isize| (0..size as isize).contains(&at);
        let is_inside = |at: usize| (board.margin..size - board.margin).contains(&at);
        let beyond = stones
            .points()
            .filter(|at| !(is_inside(at % size) && is_inside(at / size)))
            .count();
        prop_assert_eq!(board.can_make_five(stones, Zone::default()), beyond > 3);
        for least in 1..=4 {
            let tight = board.counts(stones).at_least(least).0[0].has(BoardRows::<WORDS>::FAR);
            prop_assert_eq!(tight, board.margin > 0 && beyond >= least);
        }
        prop_assert_eq!(
            board.through(stones).0[0].has(BoardRows::<WORDS>::FAR),
            beyond > 0
        );
        for code in 0..board.size * board.size {
            prop_assert_eq!(board.code(board.point(code)), Some(Move::new(code as u16)));
        }
        for (direction, (right, up)) in DIRECTIONS.into_iter().enumerate() {
            for at in (0..Zone::<WORDS>::MAX_POINTS).filter(|at| *at != BoardRows::<WORDS>::FAR) {
                let (column, row) = ((at % size) as isize, (at / size) as isize);
                let is_row = on(row) && on(column + 4 * right) && on(row + 4 * up);
                let point =
                    |step| ((row + step * up) * size as isize + column + step * right) as usize;
                let count = if is_row {
                    (0..5).filter(|step| stones.has(point(*step))).count()
                } else {
                    0
                };
                let has = |rows: RowSet<WORDS>| rows.0[direction].has(at);
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
        Ok(())
    }
}
