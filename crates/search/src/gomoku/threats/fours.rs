use arrayvec::ArrayVec;
use kagetsu_game::gomoku::{Lines, Point, Rule, forbidden};
use kagetsu_game::{Move, RuleName, Side};

use crate::gomoku::board::Board;
use crate::gomoku::places::{Geometry, Line};

/// A board that knows only fours and fives, for the VCF search. It judges all places of a line at
/// once by counting stones in windows of five.
#[derive(Debug)]
pub(in crate::gomoku) struct Fours<R> {
    attacker: Side,
    lines: [Line; 256],
    hash: u64,
    /// Black's stones and the empty cells, for the judge of renju.
    judged: Option<(Lines, Lines)>,
    geometry: &'static Geometry,
    rule: std::marker::PhantomData<R>,
}

/// The cells that complete five after a four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gomoku) enum Completion {
    /// None: it was no four.
    None,
    /// The one that the defender must take.
    One(u16),
    /// More than one; this is one of them, and this another.
    Two(u16, u16),
}

impl<R: Rule> Fours<R> {
    /// The board as it stands, the side to move attacking.
    pub(in crate::gomoku) fn new(board: &Board<R>) -> Self {
        let attacker = board.side();
        Self {
            attacker,
            lines: *board.lines(),
            hash: board.hash_now(),
            judged: R::FORBIDS.then(|| board.judged().clone()),
            geometry: board.geometry(),
            rule: std::marker::PhantomData,
        }
    }

    /// Whether renju forbids the cell to the side.
    #[inline]
    pub(in crate::gomoku) fn is_forbidden(&self, side: Side, cell: usize) -> bool {
        let is_judged = R::FORBIDS && side == Side::First;
        let mut judged = self.judged.iter().filter(|_| is_judged);
        judged.any(|(black, empty)| forbidden(black, empty, self.point(cell)).is_some())
    }

    /// Returns the defender's reply to a four with one completion point: that point, or another
    /// cell if the point is forbidden to the defender. `None` if every cell is.
    #[inline]
    pub(in crate::gomoku) fn answer(&mut self, four: usize, point: usize) -> Option<u16> {
        let defender = self.attacker.other();
        if !self.judges_defender() {
            return Some(point as u16);
        }
        self.judge(four, self.attacker);
        let answer = if self.is_forbidden(defender, point) {
            self.elsewhere(point)
        } else {
            Some(point as u16)
        };
        self.judge(four, self.attacker);
        answer
    }

    /// Whether the rule forbids some points to the defender.
    pub(in crate::gomoku) fn judges_defender(&self) -> bool {
        R::FORBIDS && self.attacker == Side::Second
    }

    /// A cell other than `point` that is not forbidden to the defender.
    fn elsewhere(&self, point: usize) -> Option<u16> {
        let (_, empty) = self.judged.as_ref()?;
        let cells = empty
            .points()
            .map(|point| point.as_move(self.geometry.size as u8).index());
        let mut legal =
            cells.filter(|&cell| cell != point && !self.is_forbidden(self.attacker.other(), cell));
        legal.next().map(|cell| cell as u16)
    }

    /// Adds a stone to the board of the renju test, or removes it.
    #[inline]
    fn judge(&mut self, cell: usize, side: Side) {
        let point = self.point(cell);
        if let Some((black, empty)) = self.judged.as_mut().filter(|_| R::FORBIDS) {
            if side == Side::First {
                black.flip(point);
            }
            empty.flip(point);
        }
    }

    fn point(&self, cell: usize) -> Point {
        Point::of(Move::new(cell as u16), self.geometry.size as u8)
    }

    /// Returns the cells that complete five after the attacker's stone on an empty cell.
    #[inline]
    pub(in crate::gomoku) fn completion(&self, cell: usize) -> Completion {
        let content = self.attacker.index() as u64 + 1;
        self.points(cell, |mut line, place| {
            line.flip(place, content);
            completions::<R>(self.attacker, line, true)
        })
    }

    /// Returns the cells that complete five for a side, on the lines through its stone on `cell`.
    #[inline]
    pub(in crate::gomoku) fn fives(&self, side: Side, cell: usize) -> Completion {
        self.points(cell, |line, _| completions::<R>(side, line, false))
    }

    /// Returns the cells that `completions` finds on the lines through a cell, whose place on each
    /// line it is given.
    #[inline(always)]
    fn points(&self, cell: usize, completions: impl Fn(Line, u8) -> u64) -> Completion {
        let mut found = Completion::None;
        for (at, stride) in self.geometry.places[cell]
            .into_iter()
            .zip(self.geometry.strides)
        {
            let mut points = completions(self.lines[usize::from(at.line)], at.place);
            while points != 0 {
                let point = beside(cell, at.place, points, stride);
                points &= points - 1;
                found = match found {
                    Completion::None => Completion::One(point),
                    Completion::One(other) if other != point => {
                        return Completion::Two(other, point);
                    }
                    same => same,
                };
            }
        }
        found
    }

    /// Whether two cells are at most four columns and rows apart.
    #[inline]
    pub(in crate::gomoku) const fn is_near(&self, a: u16, b: u16) -> bool {
        let size = self.geometry.size as u16;
        (a % size).abs_diff(b % size) <= 4 && (a / size).abs_diff(b / size) <= 4
    }

    /// Whether the attacker's stone on `cell` may spoil its four on another cell of the line,
    /// because six in a row is no five; or the answer any four, because it closes the five.
    #[inline]
    pub(in crate::gomoku) fn may_spoil(&self, cell: usize, four: usize) -> bool {
        let [cell, four] = [cell, four].map(|cell| &self.geometry.places[cell]);
        R::CLOSES
            || is_exact::<R>(self.attacker)
                && cell
                    .iter()
                    .zip(four)
                    .any(|(cell, four)| cell.line == four.line)
    }

    /// Puts a four and its answer on empty cells, or takes them off again.
    #[inline]
    pub(in crate::gomoku) fn put(&mut self, four: usize, answer: usize) {
        self.turn_over(four, self.attacker);
        self.turn_over(answer, self.attacker.other());
    }

    /// The hash after a four and its answer.
    #[inline]
    pub(in crate::gomoku) fn hash_after(&self, four: usize, answer: usize) -> u64 {
        self.hash
            ^ Board::<R>::number(self.attacker, four)
            ^ Board::<R>::number(self.attacker.other(), answer)
    }

    /// Cells where the attacker makes a four along one of the lines through a cell.
    #[inline]
    pub(in crate::gomoku) fn cells_beside(&self, cell: usize) -> ArrayVec<usize, 40> {
        let mut cells = ArrayVec::new();
        for (at, stride) in self.geometry.places[cell]
            .into_iter()
            .zip(self.geometry.strides)
        {
            let mut makers = makers::<R>(self.attacker, self.lines[usize::from(at.line)]);
            while makers != 0 {
                cells.push(beside(cell, at.place, makers, stride).into());
                makers &= makers - 1;
            }
        }
        cells
    }

    /// Puts a stone on an empty cell, or takes it off again.
    #[inline]
    fn turn_over(&mut self, cell: usize, side: Side) {
        let content = side.index() as u64 + 1;
        for at in self.geometry.places[cell] {
            self.lines[usize::from(at.line)].flip(at.place, content);
        }
        self.hash ^= Board::<R>::number(side, cell);
        self.judge(cell, side);
    }
}

/// The cell of the lowest place in `places`, of the line on which `cell` has the place `place`.
#[inline]
const fn beside(cell: usize, place: u8, places: u64, stride: isize) -> u16 {
    let steps = Line::place_of(places.trailing_zeros()) - place as isize;
    (cell as isize + steps * stride) as u16
}

/// Whether more than five in a row are no five of the side's.
const fn is_exact<R: Rule>(side: Side) -> bool {
    match R::NAME {
        RuleName::Freestyle | RuleName::CaroOverline => false,
        RuleName::Standard | RuleName::Caro => true,
        RuleName::Renju => matches!(side, Side::First),
    }
}

/// Returns the windows of five without an opposing stone or edge, one bit at the first place of
/// each, and the number of own stones in each as three bit planes: ones, twos, fours. Where exactly
/// five wins, a window next to an own stone does not count. Where opposing stones close a row, a
/// window between two of them does not count, nor for the attacker one that a stone can close, so
/// that each of his fours has one answer.
#[inline]
fn windows<R: Rule>(side: Side, line: Line, attacks: bool) -> (u64, [u64; 3]) {
    let (own, empty) = (line.stones(side), line.empty());
    let free = own | empty;
    let mut open = free & free >> 2 & free >> 4 & free >> 6 & free >> 8;
    if is_exact::<R>(side) {
        open &= !(own << 2) & !(own >> 10);
    }
    if R::CLOSES {
        let other = line.stones(side.other());
        let closable = if attacks { other | empty } else { other };
        open &= !(other << 2 & closable >> 10 | closable << 2 & other >> 10);
    }
    let add = |a: u64, b: u64, c: u64| (a ^ b ^ c, a & b | c & (a ^ b));
    let (ones, carry) = add(own, own >> 2, own >> 4);
    let (ones, more) = add(ones, own >> 6, own >> 8);
    (open, [ones, carry ^ more, carry & more])
}

/// All places of the windows that begin at `starts`.
#[inline]
const fn spread(starts: u64) -> u64 {
    let two = starts | starts << 2;
    two | two << 4 | starts << 8
}

/// The empty places where a stone makes a four: in a window with three of one's own.
#[inline]
fn makers<R: Rule>(side: Side, line: Line) -> u64 {
    let (open, [ones, twos, _]) = windows::<R>(side, line, true);
    spread(open & ones & twos) & line.empty()
}

/// The empty places that complete five: in a window with four of one's own.
#[inline]
fn completions<R: Rule>(side: Side, line: Line, attacks: bool) -> u64 {
    let (open, [ones, _, fours]) = windows::<R>(side, line, attacks);
    spread(open & fours & !ones) & line.empty()
}
