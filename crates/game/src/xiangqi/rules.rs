use alloc::string::String;
use alloc::vec::Vec;

use super::board::reach;
use super::packing::{flaw, image, image_side, swaps};
use super::{
    Board, FILES, Piece, SQUARES, Square, Squares, draw, entry_reader, notation, packing,
    repetition, scoresheet,
};
use crate::notation::fen::{move_number, with_count, write_rows};
use crate::notation::line::split_at_blanks;
use crate::{
    Chase, FenError, Game, Move, MoveError, Notation, Outcome, Packed, Side, Symmetry, UnpackError,
    Variant, zobrist,
};

/// Number of plies without a capture that draws.
pub const QUIET_LIMIT: u8 = 120;
const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
/// Zobrist numbers by piece (its code less one) and point.
static NUMBERS: zobrist::Table<{ 14 * SQUARES }> = zobrist::Table::new(2048);

/// Returns the number of a piece on a point in [`Game::zobrist`]; [`Game::hash`] has the low half.
#[must_use]
pub fn number(square: Square, piece: Piece) -> u128 {
    NUMBERS.get(usize::from(piece.code() - 1) * SQUARES + square.index())
}

/// A game of xiangqi: the board, the side to move and the history. Red is [`Side::First`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xiangqi {
    board: Board,
    side: Side,
    chase: Chase,
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
    captured: Option<Piece>,
}

fn chase(variant: Variant) -> Option<Chase> {
    match variant {
        Variant::Xiangqi { chase } => Some(chase),
        _ => None,
    }
}

impl Xiangqi {
    fn new(chase: Chase, board: Board, side: Side, quiet: u8) -> Self {
        let mut game = Self {
            board,
            side,
            chase,
            quiet,
            zobrist: 0,
            past: Vec::new(),
            history: Vec::new(),
        };
        game.zobrist = game.zobrist(Symmetry::IDENTITY);
        game
    }

    /// Returns the pieces.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the plies since the last capture.
    #[must_use]
    pub const fn quiet(&self) -> u8 {
        self.quiet
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn is_check(&self) -> bool {
        self.board.is_in_check(self.side)
    }

    /// Returns the piece that the move captures.
    #[must_use]
    pub fn captured(&self, m: Move) -> Option<Piece> {
        notation::ends(m).and_then(|(_, to)| self.board.at(to))
    }

    /// Returns the move in WXF notation: `C2=5`, `H8+7`, `+R-1` for the front one of two on a file,
    /// `-R=4` for the rear one, `aP+1` and so on where three or more soldiers share files. Empty if
    /// no piece stands on the origin.
    #[must_use]
    pub fn wxf(&self, m: Move) -> String {
        notation::ends(m)
            .map(|(from, to)| scoresheet::wxf(&self.board, from, to))
            .unwrap_or_default()
    }

    /// Returns the move in simplified Chinese: 炮二平五, 马8进7, 前车退一. Empty if no piece stands on the
    /// origin.
    #[must_use]
    pub fn chinese(&self, m: Move) -> String {
        notation::ends(m)
            .map(|(from, to)| scoresheet::chinese(&self.board, from, to))
            .unwrap_or_default()
    }

    /// Returns the length of the history at the position's first occurrence, if it occurs for the
    /// third time. Only positions since the last capture can repeat.
    fn first_of_three(&self) -> Option<usize> {
        let since = self
            .past
            .iter()
            .enumerate()
            .rev()
            .take(usize::from(self.quiet));
        let same = since
            .skip(1)
            .step_by(2)
            .filter(|(_, past)| past.zobrist == self.zobrist);
        same.map(|(index, _)| index).nth(1)
    }

    fn is_over_by_history(&self) -> bool {
        self.quiet >= QUIET_LIMIT || self.first_of_three().is_some()
    }

    fn repetition(&self) -> Option<Outcome> {
        let stretch = &self.history[self.first_of_three()?..];
        let stretch: Vec<(Square, Square)> =
            stretch.iter().filter_map(|&m| notation::ends(m)).collect();
        Some(repetition::judge(
            &self.board,
            self.side,
            &stretch,
            self.chase,
        ))
    }

    /// Returns every movable piece of the side to move with its targets.
    fn all_targets(&self) -> impl Iterator<Item = (Square, Squares)> {
        let danger = self.board.danger(self.side);
        let own = self.board.side(self.side).into_iter();
        own.filter_map(move |from| {
            Some((
                from,
                self.board
                    .legal_targets(from, self.board.at(from)?, danger.as_ref()?),
            ))
        })
    }

    fn has_moves(&self) -> bool {
        self.all_targets().any(|(_, targets)| !targets.is_empty())
    }

    /// Whether the move follows the rules of movement.
    fn is_legal(&self, from: Square, to: Square) -> bool {
        let piece = self.board.at(from).filter(|piece| piece.side == self.side);
        piece.is_some_and(|piece| {
            self.board.targets(from, piece).has(to) && self.board.is_safe(from, to, piece)
        })
    }
}

impl Xiangqi {
    /// Why a move that is not legal is refused.
    fn refusal(&self, from: Square, to: Square) -> &'static str {
        let Some(piece) = self.board.at(from) else {
            return "no piece stands there";
        };
        if piece.side != self.side {
            "the piece is the other side's"
        } else if self.board.targets(from, piece).has(to) {
            "it leaves the own general in check"
        } else if reach(from, piece, Squares::one(from)).has(to) {
            "another piece is in the way"
        } else {
            "the piece does not move so"
        }
    }

    /// Returns the moves of all pieces as if each stood alone, those of the side to move first.
    fn moves_on_empty_board(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for side in [self.side, self.side.other()] {
            for (from, piece) in self.board.iter().filter(|(_, piece)| piece.side == side) {
                let targets = reach(from, piece, Squares::one(from));
                moves.extend(targets.into_iter().map(|to| notation::join(from, to)));
            }
        }
        moves
    }
}

/// Symmetry bit 0 mirrors the files; bit 1 mirrors the ranks and swaps the sides, with the side to
/// move.
impl Game for Xiangqi {
    const SYMMETRIES: u8 = 4;

    fn start(variant: Variant) -> Self {
        let packed = Self::read_fen(variant, START).expect("the start position");
        Self::unpack(variant, &packed).expect("a xiangqi variant")
    }

    fn variant(&self) -> Variant {
        Variant::Xiangqi { chase: self.chase }
    }

    fn side(&self) -> Side {
        self.side
    }

    fn history(&self) -> &[Move] {
        &self.history
    }

    fn stones(&self) -> u16 {
        self.board.occupied().count() as u16
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.has_moves() {
            return Some(Outcome::Win(self.side.other()));
        }
        self.repetition()
            .or_else(|| (self.quiet >= QUIET_LIMIT).then_some(Outcome::Draw))
    }

    fn moves(&self, out: &mut Vec<Move>) {
        if !self.is_over_by_history() {
            self.moves_on_board(out);
        }
    }

    fn moves_on_board(&self, out: &mut Vec<Move>) {
        for (from, targets) in self.all_targets() {
            out.extend(targets.into_iter().map(|to| notation::join(from, to)));
        }
    }

    fn count_on_board(&self) -> u64 {
        self.all_targets()
            .map(|(_, targets)| u64::from(targets.count()))
            .sum()
    }

    fn check(&self, m: Move) -> Result<(), MoveError> {
        let text = || notation::write(m);
        let (from, to) =
            notation::ends(m).ok_or_else(|| MoveError::OffBoard(text(), self.variant()))?;
        if !self.is_legal(from, to) {
            return Err(MoveError::Illegal(text(), self.refusal(from, to)));
        }
        if self.is_over_by_history() {
            Err(MoveError::AfterEnd(text()))
        } else {
            Ok(())
        }
    }

    fn play(&mut self, m: Move) {
        let (from, to) = notation::ends(m).expect("a legal move");
        let piece = self.board.at(from).expect("a piece to move");
        let captured = self.board.shift(from, to);
        self.past.push(Past {
            zobrist: self.zobrist,
            quiet: self.quiet,
            captured,
        });
        self.history.push(m);
        self.zobrist ^= number(from, piece) ^ number(to, piece) ^ zobrist::SECOND_TO_MOVE;
        if let Some(captured) = captured {
            self.zobrist ^= number(to, captured);
        }
        self.quiet = if captured.is_some() {
            0
        } else {
            self.quiet.saturating_add(1)
        };
        self.side = self.side.other();
        self.zobrist = zobrist::marked(self.zobrist, self.side);
    }

    fn undo(&mut self) {
        let m = self.history.pop().expect("a move to take back");
        let past = self.past.pop().expect("as many as moves");
        let (from, to) = notation::ends(m).expect("a move that was played");
        self.board.shift(to, from);
        if let Some(captured) = past.captured {
            self.board.put(to, captured);
        }
        self.side = self.side.other();
        (self.zobrist, self.quiet) = (past.zobrist, past.quiet);
    }

    fn hash(&self) -> u64 {
        self.zobrist as u64
    }

    fn zobrist(&self, symmetry: Symmetry) -> u128 {
        let side = image_side(symmetry, self.side);
        let pieces = self
            .board
            .iter()
            .map(|(square, piece)| number(image(symmetry, square), piece.turned(swaps(symmetry))));
        let mut value = pieces.fold(zobrist::salt(self.variant().code()), |value, number| {
            value ^ number
        });
        if side == Side::Second {
            value ^= zobrist::SECOND_TO_MOVE;
        }
        zobrist::marked(value, side)
    }

    fn pack(&self, symmetry: Symmetry) -> Packed {
        packing::pack(&self.board, self.side, symmetry)
    }

    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError> {
        let chase = chase(variant).ok_or(UnpackError {
            variant,
            reason: "it is no xiangqi",
        })?;
        let (board, side, quiet) = packing::unpack(variant, packed)?;
        Ok(Self::new(chase, board, side, quiet))
    }

    fn image(_: Variant, m: Move, symmetry: Symmetry) -> Move {
        let Some((from, to)) = notation::ends(m) else {
            return m;
        };
        notation::join(image(symmetry, from), image(symmetry, to))
    }

    fn inverse(symmetry: Symmetry) -> Symmetry {
        symmetry
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        if entry_reader::is_entry(text) {
            let mut moves = Vec::new();
            self.moves_on_board(&mut moves);
            let read = |moves: &[Move]| entry_reader::read(&self.board, self.side, moves, text);
            // An entry that names no legal move may name one that can be refused with a reason.
            if let Some(m) = read(&moves).or_else(|| read(&self.moves_on_empty_board())) {
                return Ok(m);
            }
        }
        notation::parse(self.variant(), text)
    }

    fn write_move_in(&self, m: Move, notation: Notation) -> String {
        let name = match notation {
            Notation::Engine => String::new(),
            Notation::Wxf => self.wxf(m),
            Notation::Chinese => self.chinese(m),
        };
        if name.is_empty() {
            notation::write(m)
        } else {
            name
        }
    }

    fn write_move(_: Variant, m: Move) -> String {
        notation::write(m)
    }

    fn split_line(line: &str) -> Vec<&str> {
        split_at_blanks(line)
            .into_iter()
            .flat_map(notation::split_entries)
            .collect()
    }

    fn draw(&self) -> String {
        draw::draw(&self.board, self.history.last().copied())
    }

    fn read_fen(variant: Variant, text: &str) -> Result<Packed, FenError> {
        let fen = notation::fen(variant).read(text)?;
        let mut board = Board::EMPTY;
        for (number, piece) in fen.cells.iter().enumerate() {
            Square::new(number)
                .zip(*piece)
                .into_iter()
                .for_each(|(square, piece)| board.put(square, piece));
        }
        match flaw(&board, fen.side) {
            Some(reason) => Err(FenError::Unreadable(alloc::format!(
                "no game of {variant} comes to this position: {reason}"
            ))),
            None => Ok(with_count(
                packing::pack(&board, fen.side, Symmetry::IDENTITY),
                fen.quiet,
            )),
        }
    }

    fn fen(&self) -> Option<String> {
        let letters =
            (0..SQUARES).map(|number| self.board.at(Square::new(number)?).map(Piece::letter));
        let rows = write_rows(FILES, &letters.collect::<Vec<_>>());
        let side = if self.side == Side::First { 'w' } else { 'b' };
        let number = move_number(self.history.len(), self.side);
        Some(alloc::format!("{rows} {side} - - {} {number}", self.quiet))
    }
}
