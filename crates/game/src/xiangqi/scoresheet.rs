//! Moves in the notation of score sheets: WXF (`C2=5`) and Chinese (炮二平五).
//!
//! Files count from the mover's right, 1 to 9. A step along the file is given as a number of ranks;
//! advisors, elephants and horses are given with the file where they end. Two pieces on one file
//! are told apart by their order. Two soldiers on one file have the same marks as other pieces;
//! with more, or with two files of two or more, they are numbered from the front, files from the
//! right.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Board, Kind, Piece, RANKS, Square};
use crate::Side;

/// The piece that moves.
pub(super) enum MovedPiece {
    /// The only one on this file.
    File(usize),
    /// The one in front.
    Front,
    /// The one behind.
    Rear,
    /// One of several soldiers, from 0.
    Number(usize),
}

/// The direction.
enum Direction {
    Forward(usize),
    Back(usize),
    /// Along its rank, to this file.
    Across(usize),
}

/// A move, with numbers 1 to 9 as the mover sees them.
struct ScoreEntry {
    piece: Piece,
    subject: MovedPiece,
    action: Direction,
}

/// Returns the file as its owner counts it, 1 to 9.
pub(super) fn file(side: Side, square: Square) -> usize {
    match side {
        Side::First => 9 - square.file(),
        Side::Second => 1 + square.file(),
    }
}

/// Returns the ranks above the owner's first.
pub(super) fn height(side: Side, square: Square) -> usize {
    match side {
        Side::First => square.rank(),
        Side::Second => RANKS - 1 - square.rank(),
    }
}

impl ScoreEntry {
    /// Returns `None` if no piece stands on `from`.
    fn new(board: &Board, from: Square, to: Square) -> Option<Self> {
        let piece = board.at(from)?;
        let (before, after) = (height(piece.side, from), height(piece.side, to));
        let is_aslant = matches!(piece.kind, Kind::Advisor | Kind::Elephant | Kind::Horse);
        let number = if is_aslant {
            file(piece.side, to)
        } else {
            before.abs_diff(after)
        };
        let action = match after.cmp(&before) {
            core::cmp::Ordering::Equal => Direction::Across(file(piece.side, to)),
            core::cmp::Ordering::Greater => Direction::Forward(number),
            core::cmp::Ordering::Less => Direction::Back(number),
        };
        Some(Self {
            piece,
            subject: subject(board, from, piece),
            action,
        })
    }
}

/// Returns how an entry names the piece on a square.
pub(super) fn subject(board: &Board, from: Square, piece: Piece) -> MovedPiece {
    let alone = MovedPiece::File(file(piece.side, from));
    let tandems = tandems(board, piece);
    match piece.kind {
        // Only one of two can make the move; the direction tells which.
        Kind::General | Kind::Advisor | Kind::Elephant => alone,
        _ if !tandems.contains(&from) => alone,
        _ if tandems.len() == 2 && tandems[0] == from => MovedPiece::Front,
        _ if tandems.len() == 2 => MovedPiece::Rear,
        _ => MovedPiece::Number(
            tandems
                .iter()
                .position(|&square| square == from)
                .unwrap_or_default(),
        ),
    }
}

/// Returns the sign of WXF and the number of a move; `None` if no piece stands on `from`.
pub(super) fn action(board: &Board, from: Square, to: Square) -> Option<(char, usize)> {
    let entry = ScoreEntry::new(board, from, to)?;
    Some(match entry.action {
        Direction::Forward(number) => ('+', number),
        Direction::Back(number) => ('-', number),
        Direction::Across(number) => ('=', number),
    })
}

/// Returns the pieces of this kind and side that share a file with another: files from the right,
/// each from the front.
fn tandems(board: &Board, piece: Piece) -> Vec<Square> {
    let all = board.pieces(piece.side, piece.kind);
    let shares = |square: &Square| {
        all.into_iter()
            .any(|other| other != *square && other.file() == square.file())
    };
    let mut tandems: Vec<Square> = all.into_iter().filter(shares).collect();
    tandems.sort_by_key(|&square| (file(piece.side, square), RANKS - height(piece.side, square)));
    tandems
}

/// Writes `C2=5`, `H8+7`, `+R-1` (the front rook of two), `bP+1` (the second of several soldiers).
/// Empty if no piece stands there.
pub(super) fn wxf(board: &Board, from: Square, to: Square) -> String {
    let Some(entry) = ScoreEntry::new(board, from, to) else {
        return String::new();
    };
    let letter = ['K', 'A', 'E', 'H', 'R', 'C', 'P'][entry.piece.kind.index()];
    let digit = |number: usize| char::from(b'0' + number as u8);
    let (sign, number) = action(board, from, to).unwrap_or_default();
    let (one, two) = match entry.subject {
        MovedPiece::File(number) => (letter, digit(number)),
        MovedPiece::Front => ('+', letter),
        MovedPiece::Rear => ('-', letter),
        MovedPiece::Number(number) => (char::from(b'a' + number as u8), letter),
    };
    String::from_iter([one, two, sign, digit(number)])
}

/// Writes 炮二平五 in simplified characters; Red's numbers are Chinese, Black's are digits. Empty if no
/// piece stands there.
pub(super) fn chinese(board: &Board, from: Square, to: Square) -> String {
    let Some(entry) = ScoreEntry::new(board, from, to) else {
        return String::new();
    };
    let Piece { side, kind } = entry.piece;
    let names = match side {
        Side::First => ['帅', '仕', '相', '马', '车', '炮', '兵'],
        Side::Second => ['将', '士', '象', '马', '车', '炮', '卒'],
    };
    let name = names[kind.index()];
    let (action, number) = match entry.action {
        Direction::Forward(number) => ('进', number),
        Direction::Back(number) => ('退', number),
        Direction::Across(number) => ('平', number),
    };
    let (one, two) = match entry.subject {
        MovedPiece::File(number) => (name, numeral(side, number)),
        MovedPiece::Front => ('前', name),
        MovedPiece::Rear => ('后', name),
        // Three on one file have a middle one; more are counted.
        MovedPiece::Number(number) if tandems(board, entry.piece).len() == 3 => {
            (['前', '中', '后'][number], name)
        }
        MovedPiece::Number(number) => (numeral(Side::First, number + 1), name),
    };
    String::from_iter([one, two, action, numeral(side, number)])
}

/// Returns a digit 1 to 9.
fn numeral(side: Side, number: usize) -> char {
    match side {
        Side::First => ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'][number.min(9)],
        Side::Second => char::from(b'0' + number.min(9) as u8),
    }
}
