use alloc::string::String;
use alloc::vec::Vec;

use super::board::{Board, points};
use super::{POINTS, notation, packing};
use crate::notation::fen::{move_number, with_count, write_rows};
use crate::notation::line::split_at_blanks;
use crate::{
    FenError, Game, Move, MoveError, Outcome, Packed, Side, Symmetry, UnpackError, Variant, zobrist,
};

/// Zobrist numbers by side and point.
static NUMBERS: zobrist::Table<{ 2 * POINTS }> = zobrist::Table::new(4096);

/// A game of surakarta: the board, the side to move and the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surakarta {
    board: Board,
    side: Side,
    /// Plies without a capture that end the game.
    limit: u8,
    /// Plies since the last capture.
    quiet: u8,
    zobrist: u128,
    past: Vec<Past>,
    history: Vec<Move>,
}

/// The state before a move, for undoing it and for finding repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    zobrist: u128,
    quiet: u8,
    captured: bool,
}

fn limit(variant: Variant) -> Option<u8> {
    match variant {
        Variant::Surakarta { limit } => Some(limit),
        _ => None,
    }
}

impl Surakarta {
    fn new(limit: u8, board: Board, side: Side, quiet: u8) -> Self {
        let mut game = Self {
            board,
            side,
            limit,
            quiet,
            zobrist: 0,
            past: Vec::new(),
            history: Vec::new(),
        };
        game.zobrist = game.zobrist(Symmetry::IDENTITY);
        game
    }

    /// Returns the Zobrist number of a stone on a point.
    ///
    /// # Panics
    /// If it is not a point of the board.
    #[must_use]
    pub const fn number(side: Side, point: u8) -> u128 {
        NUMBERS.get(side.index() * POINTS + point as usize)
    }

    /// Returns the stones.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the plies since the last capture.
    #[must_use]
    pub const fn quiet(&self) -> u8 {
        self.quiet
    }

    /// Whether the move takes a stone.
    #[must_use]
    pub fn is_capture(&self, m: Move) -> bool {
        notation::ends(m).is_some_and(|(_, to)| self.board.at(to) == Some(self.side.other()))
    }

    /// Whether the position occurs for the third time. Only positions since the last capture can
    /// repeat.
    fn is_third(&self) -> bool {
        let since = self.past.iter().rev().take(usize::from(self.quiet));
        since
            .skip(1)
            .step_by(2)
            .filter(|past| past.zobrist == self.zobrist)
            .nth(1)
            .is_some()
    }

    /// Whether the limit or a repetition has ended the game.
    fn is_over_by_history(&self) -> bool {
        self.quiet >= self.limit || self.is_third()
    }

    fn has_moves(&self) -> bool {
        self.board
            .all_targets(self.side)
            .any(|(_, targets)| targets != 0)
    }

    fn has_stones(&self) -> bool {
        [Side::First, Side::Second]
            .into_iter()
            .all(|side| self.board.count(side) > 0)
    }

    /// Returns the outcome by count: more stones win.
    fn majority(&self) -> Outcome {
        let [first, second] = [Side::First, Side::Second].map(|side| self.board.count(side));
        match first.cmp(&second) {
            core::cmp::Ordering::Greater => Outcome::Win(Side::First),
            core::cmp::Ordering::Less => Outcome::Win(Side::Second),
            core::cmp::Ordering::Equal => Outcome::Draw,
        }
    }

    fn targets(&self, from: u8) -> u64 {
        if self.board.at(from) == Some(self.side) {
            self.board.targets(from, self.side)
        } else {
            0
        }
    }
}

/// Symmetries 0 to 7 turn the square ([`Symmetry::square`]); 8 to 15 do the same and swap the
/// sides, with the side to move.
impl Game for Surakarta {
    const SYMMETRIES: u8 = 16;

    fn start(variant: Variant) -> Self {
        Self::new(
            limit(variant).expect("a surakarta variant"),
            Board::START,
            Side::First,
            0,
        )
    }

    fn variant(&self) -> Variant {
        Variant::Surakarta { limit: self.limit }
    }

    fn side(&self) -> Side {
        self.side
    }

    fn history(&self) -> &[Move] {
        &self.history
    }

    fn stones(&self) -> u16 {
        self.board.count(Side::First) + self.board.count(Side::Second)
    }

    fn outcome(&self) -> Option<Outcome> {
        let is_over = !self.has_stones() || self.is_over_by_history() || !self.has_moves();
        is_over.then(|| self.majority())
    }

    fn moves(&self, out: &mut Vec<Move>) {
        if self.has_stones() && !self.is_over_by_history() {
            self.moves_on_board(out);
        }
    }

    fn moves_on_board(&self, out: &mut Vec<Move>) {
        if !self.has_stones() {
            return;
        }
        for (from, targets) in self.board.all_targets(self.side) {
            out.extend(points(targets).map(|to| notation::join(from, to)));
        }
    }

    fn count_on_board(&self) -> u64 {
        if !self.has_stones() {
            return 0;
        }
        self.board
            .all_targets(self.side)
            .map(|(_, targets)| u64::from(targets.count_ones()))
            .sum()
    }

    fn check(&self, m: Move) -> Result<(), MoveError> {
        let (from, to) = notation::ends(m)
            .ok_or_else(|| MoveError::OffBoard(notation::write(m), self.variant()))?;
        if self.targets(from) >> to & 1 == 0 {
            let reason = match [Side::First, Side::Second]
                .map(|side| self.board.stones(side) >> from & 1 != 0)
            {
                [false, false] => "no stone stands there",
                sides if sides[self.side.index()] => "the stone cannot go there",
                _ => "the stone is the other side's",
            };
            return Err(MoveError::Illegal(notation::write(m), reason));
        }
        if self.has_stones() && !self.is_over_by_history() {
            Ok(())
        } else {
            Err(MoveError::AfterEnd(notation::write(m)))
        }
    }

    fn play(&mut self, m: Move) {
        let (from, to) = notation::ends(m).expect("a legal move");
        let (mover, enemy) = (self.side, self.side.other());
        let captured = self.board.stones(enemy) >> to & 1 != 0;
        self.past.push(Past {
            zobrist: self.zobrist,
            quiet: self.quiet,
            captured,
        });
        self.history.push(m);
        self.zobrist ^=
            Self::number(mover, from) ^ Self::number(mover, to) ^ zobrist::SECOND_TO_MOVE;
        self.board.flip(from, mover);
        self.board.flip(to, mover);
        if captured {
            self.zobrist ^= Self::number(enemy, to);
            self.board.flip(to, enemy);
        }
        self.quiet = if captured {
            0
        } else {
            self.quiet.saturating_add(1)
        };
        self.side = enemy;
        self.zobrist = zobrist::marked(self.zobrist, self.side);
    }

    fn undo(&mut self) {
        let m = self.history.pop().expect("a move to take back");
        let past = self.past.pop().expect("as many as moves");
        let (from, to) = notation::ends(m).expect("a move that was played");
        let (mover, enemy) = (self.side.other(), self.side);
        self.board.flip(to, mover);
        self.board.flip(from, mover);
        if past.captured {
            self.board.flip(to, enemy);
        }
        self.side = mover;
        (self.zobrist, self.quiet) = (past.zobrist, past.quiet);
    }

    fn hash(&self) -> u64 {
        self.zobrist as u64
    }

    fn zobrist(&self, symmetry: Symmetry) -> u128 {
        let side = packing::image_side(symmetry, self.side);
        let mut value = zobrist::salt(self.variant().code());
        if side == Side::Second {
            value ^= zobrist::SECOND_TO_MOVE;
        }
        for owner in [Side::First, Side::Second] {
            let shown = packing::image_side(symmetry, owner);
            points(self.board.stones(owner))
                .for_each(|point| value ^= Self::number(shown, packing::image(symmetry, point)));
        }
        zobrist::marked(value, side)
    }

    fn pack(&self, symmetry: Symmetry) -> Packed {
        packing::pack(&self.board, self.side, symmetry)
    }

    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError> {
        let limit = limit(variant).ok_or(UnpackError {
            variant,
            reason: "it is no surakarta",
        })?;
        let (board, side, quiet) = packing::unpack(variant, packed)?;
        Ok(Self::new(limit, board, side, quiet))
    }

    fn image(_: Variant, m: Move, symmetry: Symmetry) -> Move {
        let Some((from, to)) = notation::ends(m) else {
            return m;
        };
        notation::join(packing::image(symmetry, from), packing::image(symmetry, to))
    }

    fn inverse(symmetry: Symmetry) -> Symmetry {
        let square = Symmetry::new(symmetry.number() & 7).square_inverse();
        Symmetry::new(square.number() | symmetry.number() & 8)
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        notation::parse(self.variant(), text)
    }

    fn write_move(_: Variant, m: Move) -> String {
        notation::write(m)
    }

    fn split_line(line: &str) -> Vec<&str> {
        split_at_blanks(line)
    }

    fn draw(&self) -> String {
        notation::draw(|point| self.board.at(point), self.history.last().copied())
    }

    fn read_fen(variant: Variant, text: &str) -> Result<Packed, FenError> {
        let fen = notation::fen(variant).read(text)?;
        let mut board = Board::default();
        for (cell, point) in fen.cells.iter().zip(0..) {
            cell.iter().for_each(|&side| board.flip(point, side));
        }
        Ok(with_count(
            packing::pack(&board, fen.side, Symmetry::IDENTITY),
            fen.quiet,
        ))
    }

    fn fen(&self) -> Option<String> {
        let letters: Vec<Option<char>> = (0..POINTS as u8)
            .map(|point| self.board.at(point).map(notation::letter))
            .collect();
        let (rows, side) = (
            write_rows(super::SIZE, &letters),
            notation::letter(self.side),
        );
        let number = move_number(self.history.len(), self.side);
        Some(alloc::format!("{rows} {side} {} {number}", self.quiet))
    }
}
