use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::around::{CENTRE, is_closed, row};
use super::geometry::{Cell, MAX_CELLS};
use super::{Around, Forbidden, Lines, Point, Rule, drawing, forbidden, notation, packing};
use crate::{
    BoardError, Game, Move, MoveError, Outcome, Packed, Side, Symmetry, UnpackError, Variant,
    zobrist,
};

/// Zobrist numbers by side and cell code.
static NUMBERS: zobrist::Table<{ 2 * MAX_CELLS }> = zobrist::Table::new(0);

/// Returns the Zobrist number of a stone on a cell, by the cell's code.
#[inline]
#[must_use]
pub const fn number(side: Side, cell: usize) -> u128 {
    NUMBERS.get(side.index() * MAX_CELLS + cell)
}

/// A gomoku board with its history.
///
/// In renju a game can also end without a five, both times lost for Black: by playing a
/// [`Forbidden`] point, or with only forbidden points left. (The federation's rules allow a pass;
/// engines do not pass.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gomoku<R> {
    size: u8,
    side: Side,
    stones: u16,
    cells: [Cell; MAX_CELLS],
    /// The stones of each side.
    lines: [Lines; 2],
    empty: Lines,
    /// The Zobrist value of every image.
    zobrist: [u128; 8],
    outcome: Option<Outcome>,
    /// Whether Black's forbidden move ended the game. The stones alone do not tell, since they can
    /// also arise legally.
    foul: bool,
    history: Vec<Move>,
    rule: PhantomData<R>,
}

impl<R: Rule> Gomoku<R> {
    /// Returns the number of columns, and rows.
    #[must_use]
    pub const fn size(&self) -> u8 {
        self.size
    }

    /// Returns all points by cell code.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells[..self.cell_count()]
    }

    /// Returns why renju forbids Black an empty point. Does not depend on the side to move.
    #[must_use]
    pub fn forbidden_at(&self, m: Move) -> Option<Forbidden> {
        let is_empty = self.cells().get(m.index()) == Some(&None);
        if R::FORBIDS && is_empty {
            forbidden(&self.lines[0], &self.empty, Point::of(m, self.size))
        } else {
            None
        }
    }

    fn cell_count(&self) -> usize {
        usize::from(self.size).pow(2)
    }

    fn has_forbidden_points(&self) -> bool {
        R::FORBIDS && self.side == Side::First && self.outcome.is_none()
    }

    /// Returns the empty points by cell code.
    fn empty_moves(&self) -> impl Iterator<Item = Move> {
        self.empty.points().map(|point| point.as_move(self.size))
    }

    /// Returns the stones of the image under `symmetry`.
    fn image_stones(&self, symmetry: Symmetry) -> impl Iterator<Item = (u16, Side)> {
        let stones = self
            .cells()
            .iter()
            .zip(0..)
            .filter_map(|(cell, code)| Some((code, (*cell)?)));
        stones.map(move |(code, side)| (image(self.size, Move::new(code), symmetry).code(), side))
    }

    /// Whether the stone of `side` on `m` belongs to a five.
    fn is_five(&self, m: Move, side: Side) -> bool {
        let point = Point::of(m, self.size);
        self.has_five(self.lines[side.index()].around(point), point, side)
    }

    /// Whether a stone of `side` on the empty point would make five.
    #[must_use]
    pub fn makes_five(&self, m: Move, side: Side) -> bool {
        let point = Point::of(m, self.size);
        let own = self.lines[side.index()].around(point).with_centre();
        self.has_five(own, point, side)
    }

    /// Whether a row through `point`, around which `own` holds the stones of `side`, is a five.
    fn has_five(&self, own: Around, point: Point, side: Side) -> bool {
        let other = || self.lines[side.other().index()].around(point);
        (0..4).any(|direction| {
            let is_closed = || own.is_closed(direction, other());
            R::is_five(side, own.run(direction), is_closed)
        })
    }

    /// Whether one more stone could make a five with the stone on `m`.
    #[must_use]
    pub fn is_in_four(&self, m: Move) -> bool {
        let Some(side) = self.cells().get(m.index()).copied().flatten() else {
            return false;
        };
        let point = Point::of(m, self.size);
        let [own, other] = [side, side.other()].map(|side| self.lines[side.index()].around(point));
        let empty = self.empty.around(point);
        (0..4).any(|direction| {
            // Only points within four steps matter: bits 1 to 9.
            let [own, other, empty] = [own, other, empty].map(|set| set.window(direction));
            let is_five = |bit: u32| {
                let row = row(own | 1 << bit, CENTRE);
                row.contains(&bit) && R::is_five(side, row.len(), || is_closed(row, other))
            };
            (own & 0b11_1111_1110).count_ones() >= 4
                && (1..10).any(|bit| empty >> bit & 1 == 1 && is_five(bit))
        })
    }

    /// Puts a stone on an empty point, or takes it off again.
    fn flip(&mut self, m: Move, side: Side) {
        let point = Point::of(m, self.size);
        self.lines[side.index()].flip(point);
        self.empty.flip(point);
        for (value, symmetry) in self.zobrist.iter_mut().zip(0..) {
            let image = point.image(self.size, Symmetry::new(symmetry));
            *value ^= number(side, image.as_move(self.size).index());
        }
    }

    fn put(&mut self, m: Move, side: Side) {
        self.flip(m, side);
        self.cells[m.index()] = Some(side);
        self.stones += 1;
    }

    fn salt(&mut self, number: u128) {
        self.zobrist.iter_mut().for_each(|value| *value ^= number);
    }

    fn turn(&mut self) {
        self.side = self.side.other();
        self.salt(zobrist::SECOND_TO_MOVE);
    }

    /// Ends the game by a forbidden move of Black, or undoes that.
    fn toggle_foul(&mut self) {
        self.foul = !self.foul;
        self.salt(zobrist::FORBIDDEN_MOVE);
    }

    /// Returns the outcome, given the side that has a five.
    fn ending(&self, five: Option<Side>) -> Option<Outcome> {
        let is_full = usize::from(self.stones) == self.cell_count();
        let is_stuck = || {
            let forbids = R::FORBIDS && self.side == Side::First;
            forbids && self.empty_moves().all(|m| self.forbidden_at(m).is_some())
        };
        match five {
            Some(side) => Some(Outcome::Win(side)),
            None if self.foul => Some(Outcome::Win(Side::Second)),
            None if is_full => Some(Outcome::Draw),
            None => is_stuck().then_some(Outcome::Win(Side::Second)),
        }
    }
}

impl<R: Rule> Game for Gomoku<R> {
    const SYMMETRIES: u8 = 8;

    fn start(variant: Variant) -> Self {
        let (rule, size) = variant.gomoku().expect("a gomoku variant");
        assert_eq!(rule, R::NAME, "a board of another rule");
        Self {
            size,
            side: Side::First,
            stones: 0,
            cells: [None; MAX_CELLS],
            lines: [Lines::NONE; 2],
            empty: Lines::full(size),
            zobrist: [zobrist::salt(variant.code()); 8],
            outcome: None,
            foul: false,
            history: Vec::new(),
            rule: PhantomData,
        }
    }

    fn variant(&self) -> Variant {
        Variant::Gomoku {
            rule: R::NAME,
            size: self.size,
        }
    }

    fn side(&self) -> Side {
        self.side
    }

    fn history(&self) -> &[Move] {
        &self.history
    }

    fn stones(&self) -> u16 {
        self.stones
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn forbidden(&self) -> Vec<(Move, &'static str)> {
        if !self.has_forbidden_points() {
            return Vec::new();
        }
        self.empty_moves()
            .filter_map(|m| Some((m, self.forbidden_at(m)?.name())))
            .collect()
    }

    fn moves(&self, out: &mut Vec<Move>) {
        if self.has_forbidden_points() {
            out.extend(
                self.empty_moves()
                    .filter(|&m| self.forbidden_at(m).is_none()),
            );
        } else if self.outcome.is_none() {
            out.extend(self.empty_moves());
        }
    }

    /// Every empty point may be played, even one that renju forbids: a record may hold such a
    /// losing move.
    fn check(&self, m: Move) -> Result<(), MoveError> {
        let text = || notation::write(self.size, m);
        match self.cells().get(m.index()) {
            None => Err(MoveError::OffBoard(text(), self.variant())),
            Some(Some(_)) => Err(MoveError::Taken(text())),
            Some(None) if self.outcome.is_some() => Err(MoveError::AfterEnd(text())),
            Some(None) => Ok(()),
        }
    }

    fn play(&mut self, m: Move) {
        let by = self.side;
        if self.has_forbidden_points() && self.forbidden_at(m).is_some() {
            self.toggle_foul();
        }
        self.put(m, by);
        self.turn();
        self.history.push(m);
        self.outcome = self.ending(self.is_five(m, by).then_some(by));
    }

    fn undo(&mut self) {
        let m = self.history.pop().expect("a move to take back");
        self.turn();
        self.flip(m, self.side);
        self.cells[m.index()] = None;
        self.stones -= 1;
        if self.foul {
            self.toggle_foul();
        }
        self.outcome = None;
    }

    fn zobrist(&self, symmetry: Symmetry) -> u128 {
        self.zobrist[usize::from(symmetry.number())]
    }

    fn pack(&self, symmetry: Symmetry) -> Packed {
        packing::pack(self.size, self.side, self.foul, self.image_stones(symmetry))
    }

    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError> {
        let error = |reason| UnpackError { variant, reason };
        let unpacked = packing::unpack(variant, packed)?;
        let mut game = Self::start(variant);
        unpacked
            .stones()
            .for_each(|(code, side)| game.put(Move::new(code), side));
        if unpacked.side == Side::Second {
            game.turn();
        }
        if unpacked.foul {
            game.toggle_foul();
        }
        let has_five = |side: Side| {
            let [own, other] = [side, side.other()].map(|side| &game.lines[side.index()]);
            own.has_five(other, |run, is_closed| R::is_five(side, run, || is_closed))
        };
        let five = match (has_five(Side::First), has_five(Side::Second)) {
            (true, true) => return Err(error("both sides have five in a row")),
            (true, false) => Some(Side::First),
            (false, true) => Some(Side::Second),
            (false, false) => None,
        };
        if unpacked.foul && !R::FORBIDS {
            return Err(error("a forbidden move, where nothing is forbidden"));
        }
        if unpacked.foul && five.is_some() {
            return Err(error("a forbidden move after a five"));
        }
        game.outcome = game.ending(five);
        Ok(game)
    }

    fn image(variant: Variant, m: Move, symmetry: Symmetry) -> Move {
        image(size(variant), m, symmetry)
    }

    fn inverse(symmetry: Symmetry) -> Symmetry {
        symmetry.square_inverse()
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        notation::parse(self.variant(), self.size, text)
    }

    fn write_move(variant: Variant, m: Move) -> String {
        notation::write(size(variant), m)
    }

    fn read_board(variant: Variant, text: &str, side: Option<Side>) -> Result<Packed, BoardError> {
        drawing::read_board(variant, text, side)
    }

    fn packed_stones(variant: Variant, packed: &Packed) -> Option<[Vec<Move>; 2]> {
        packing::stones(variant, packed)
    }

    fn draw(&self) -> String {
        self.draw_marked(&[])
    }

    fn draw_marked(&self, marks: &[(Move, char)]) -> String {
        drawing::draw(self.size, self.cells(), self.history.last().copied(), marks)
    }

    fn split_line(line: &str) -> Vec<&str> {
        notation::split(line)
    }
}

fn size(variant: Variant) -> u8 {
    variant.gomoku().expect("a gomoku variant").1
}

/// Leaves a move off the board unchanged.
fn image(size: u8, m: Move, symmetry: Symmetry) -> Move {
    if m.index() < usize::from(size).pow(2) {
        Point::of(m, size).image(size, symmetry).as_move(size)
    } else {
        m
    }
}
