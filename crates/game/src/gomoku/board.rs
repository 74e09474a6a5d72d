use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::{Rule, notation};
use crate::{Game, Move, MoveError, Outcome, Packed, Side, Symmetry, UnpackError, Variant, zobrist};

/// Columns of the largest board.
pub const MAX_SIZE: usize = 22;
/// Points of the largest board.
pub const MAX_CELLS: usize = MAX_SIZE * MAX_SIZE;

/// What is on a point.
pub type Cell = Option<Side>;

/// One number for each side and point, by cell code.
static NUMBERS: [[u128; MAX_CELLS]; 2] = [zobrist::table(0), zobrist::table(MAX_CELLS as u64)];

/// A gomoku board with its history. Knows the rules; has no opinion.
#[derive(Clone, Debug)]
pub struct Gomoku<R> {
    size: u8,
    side: Side,
    stones: u16,
    cells: [Cell; MAX_CELLS],
    zobrist: u128,
    outcome: Option<Outcome>,
    history: Vec<Move>,
    rule: PhantomData<R>,
}

impl<R: Rule> Gomoku<R> {
    /// Columns, and rows, of the board.
    #[must_use]
    pub const fn size(&self) -> u8 {
        self.size
    }

    /// What is on every point, by cell code.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells[..self.cell_count()]
    }

    fn cell_count(&self) -> usize {
        usize::from(self.size).pow(2)
    }

    /// Length of the unbroken row of `side` through `m` in direction (`dx`, `dy`), with `m` counted as a stone of `side`.
    fn run(&self, m: Move, side: Side, dx: i16, dy: i16) -> usize {
        let size = i16::from(self.size);
        let (x, y) = (m.code() as i16 % size, m.code() as i16 / size);
        let along = |sign: i16| {
            (1..size)
                .map(|n| (x + sign * n * dx, y + sign * n * dy))
                .take_while(|&(x, y)| (0..size).contains(&x) && (0..size).contains(&y))
                .take_while(|&(x, y)| self.cells[(y * size + x) as usize] == Some(side))
                .count()
        };
        1 + along(1) + along(-1)
    }

    fn is_five(&self, m: Move, side: Side) -> bool {
        [(1, 0), (0, 1), (1, 1), (1, -1)].iter().any(|&(dx, dy)| R::is_five(side, self.run(m, side, dx, dy)))
    }

    fn put(&mut self, m: Move, cell: Side) {
        self.cells[m.index()] = Some(cell);
        self.stones += 1;
        self.zobrist ^= NUMBERS[cell.index()][m.index()];
    }

    fn turn(&mut self) {
        self.side = self.side.other();
        self.zobrist ^= zobrist::SECOND_TO_MOVE;
    }

    fn ended(&self, last: Move, by: Side) -> Option<Outcome> {
        if self.is_five(last, by) {
            Some(Outcome::Win(by))
        } else if usize::from(self.stones) == self.cell_count() {
            Some(Outcome::Draw)
        } else {
            None
        }
    }
}

impl<R: Rule> Game for Gomoku<R> {
    const SYMMETRIES: u8 = 8;

    fn start(variant: Variant) -> Self {
        let Variant::Gomoku { rule, size } = variant;
        assert_eq!(rule, R::NAME, "a board of another rule");
        Self {
            size,
            side: Side::First,
            stones: 0,
            cells: [None; MAX_CELLS],
            zobrist: zobrist::salt(variant.code()),
            outcome: None,
            history: Vec::new(),
            rule: PhantomData,
        }
    }

    fn variant(&self) -> Variant {
        Variant::Gomoku { rule: R::NAME, size: self.size }
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

    fn moves(&self, out: &mut Vec<Move>) {
        if self.outcome.is_none() {
            let empty = self.cells().iter().enumerate().filter(|(_, cell)| cell.is_none());
            out.extend(empty.map(|(code, _)| Move::new(code as u16)));
        }
    }

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
        self.put(m, by);
        self.turn();
        self.history.push(m);
        self.outcome = self.ended(m, by);
    }

    fn undo(&mut self) {
        let m = self.history.pop().expect("a move to take back");
        self.turn();
        self.cells[m.index()] = None;
        self.stones -= 1;
        self.zobrist ^= NUMBERS[self.side.index()][m.index()];
        self.outcome = None;
    }

    fn hash(&self) -> u64 {
        self.zobrist as u64
    }

    fn zobrist(&self, symmetry: Symmetry) -> u128 {
        if symmetry == Symmetry::IDENTITY {
            return self.zobrist;
        }
        let mut value = zobrist::salt(self.variant().code());
        if self.side == Side::Second {
            value ^= zobrist::SECOND_TO_MOVE;
        }
        for (code, cell) in self.cells().iter().enumerate() {
            if let Some(side) = cell {
                value ^= NUMBERS[side.index()][image(self.size, code as u16, symmetry) as usize];
            }
        }
        value
    }

    /// Side to move (0 or 1), then a byte for every five cells: digits in base 3 (empty, first, second), low cells in the
    /// low digits. Trailing zero bytes stay: the length is fixed by the size.
    fn pack(&self, symmetry: Symmetry) -> Packed {
        let mut bytes = alloc::vec![0; packed_len(self.size)];
        bytes[0] = self.side as u8;
        for (code, cell) in self.cells().iter().enumerate() {
            if let Some(side) = cell {
                let at = image(self.size, code as u16, symmetry) as usize;
                bytes[1 + at / 5] += (1 + *side as u8) * POWERS[at % 5];
            }
        }
        Packed(bytes)
    }

    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError> {
        let error = |reason| UnpackError { variant, reason };
        let mut game = Self::start(variant);
        let bytes = &packed.0;
        if bytes.len() != packed_len(game.size) {
            return Err(error("wrong length"));
        }
        let side = match bytes[0] {
            0 => Side::First,
            1 => Side::Second,
            _ => return Err(error("side to move is neither 0 nor 1")),
        };
        for code in 0..5 * (bytes.len() - 1) {
            let digit = bytes[1 + code / 5] / POWERS[code % 5] % 3;
            match digit {
                _ if bytes[1 + code / 5] >= 243 => return Err(error("a byte over 242")),
                0 => {}
                _ if code >= game.cell_count() => return Err(error("a stone off the board")),
                1 => game.put(Move::new(code as u16), Side::First),
                _ => game.put(Move::new(code as u16), Side::Second),
            }
        }
        if side == Side::Second {
            game.turn();
        }
        game.outcome = game.find_outcome().ok_or_else(|| error("both sides have five in a row"))?;
        Ok(game)
    }

    fn image(variant: Variant, m: Move, symmetry: Symmetry) -> Move {
        let Variant::Gomoku { size, .. } = variant;
        Move::new(image(size, m.code(), symmetry))
    }

    fn inverse(symmetry: Symmetry) -> Symmetry {
        symmetry.square_inverse()
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        notation::parse(self.variant(), self.size, text)
    }

    fn write_move(variant: Variant, m: Move) -> String {
        let Variant::Gomoku { size, .. } = variant;
        notation::write(size, m)
    }

    fn split_line(line: &str) -> Vec<&str> {
        notation::split(line)
    }
}

impl<R: Rule> Gomoku<R> {
    /// How a board of unknown history stands; `None` if both sides have five.
    fn find_outcome(&self) -> Option<Option<Outcome>> {
        let stones =
            self.cells().iter().enumerate().filter_map(|(code, cell)| Some((Move::new(code as u16), (*cell)?)));
        let mut winner = None;
        for (_, side) in stones.filter(|&(m, side)| self.is_five(m, side)) {
            if winner.is_some_and(|other| other != side) {
                return None;
            }
            winner = Some(side);
        }
        let full = usize::from(self.stones) == self.cell_count();
        Some(winner.map(Outcome::Win).or(full.then_some(Outcome::Draw)))
    }
}

const POWERS: [u8; 5] = [1, 3, 9, 27, 81];

fn packed_len(size: u8) -> usize {
    1 + usize::from(size).pow(2).div_ceil(5)
}

fn image(size: u8, code: u16, symmetry: Symmetry) -> u16 {
    let n = u16::from(size);
    let (x, y) = symmetry.square(size, (code % n) as u8, (code / n) as u8);
    u16::from(y) * n + u16::from(x)
}
