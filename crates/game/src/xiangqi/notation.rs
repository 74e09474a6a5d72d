use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{FILES, Piece, RANKS, SQUARES, Square};
use crate::notation::fen::FenDialect;
use crate::{Move, MoveError, Side, Variant};

/// Returns both ends of a move, if the board has such points.
#[must_use]
pub fn ends(m: Move) -> Option<(Square, Square)> {
    Square::new(m.index() / SQUARES).zip(Square::new(m.index() % SQUARES))
}

/// Returns the move from one point to another.
#[must_use]
pub fn join(from: Square, to: Square) -> Move {
    Move::new((from.index() * SQUARES + to.index()) as u16)
}

/// Reads `h2e2` and `H2-E2`, ranks from 0. A move with a rank 10 is read in Fairy-Stockfish's
/// notation, both ranks from 1 (`a10a9`). Other text of such programs needs [`parse_from_one`].
pub(super) fn parse(variant: Variant, text: &str) -> Result<Move, MoveError> {
    let ranks = numbers(text).ok_or_else(|| MoveError::Text(text.to_string(), variant))?;
    let lowest = if ranks.iter().any(|&(_, rank)| rank == RANKS) {
        1
    } else {
        0
    };
    locate(ranks, lowest).ok_or_else(|| MoveError::OffBoard(text.to_string(), variant))
}

/// Reads a move in the notation of Fairy-Stockfish and pyffish, ranks from 1 to 10: their `h3e3` is
/// our `h2e2`. The text does not show which notation it is in; the caller must know.
#[must_use]
pub fn parse_from_one(text: &str) -> Option<Move> {
    locate(numbers(text)?, 1)
}

/// Writes a move in Fairy-Stockfish's notation, ranks from 1 to 10.
#[must_use]
pub fn write_from_one(m: Move) -> String {
    spell(m, 1)
}

pub(super) fn write(m: Move) -> String {
    spell(m, 0)
}

fn spell(m: Move, lowest: usize) -> String {
    let point = |point: usize| {
        format!(
            "{}{}",
            char::from(b'a' + (point % FILES) as u8),
            point / FILES + lowest
        )
    };
    point(m.index() / SQUARES) + &point(m.index() % SQUARES)
}

/// Reads file (from 0) and rank (as written) of both ends.
fn numbers(text: &str) -> Option<[(usize, usize); 2]> {
    let (from, rest) = number(text)?;
    let (to, rest) = number(rest.strip_prefix('-').unwrap_or(rest))?;
    rest.is_empty().then_some([from, to])
}

/// Reads a letter and a number up to 10, and returns the rest of the text.
fn number(text: &str) -> Option<((usize, usize), &str)> {
    let file = text
        .bytes()
        .next()
        .filter(u8::is_ascii_alphabetic)?
        .to_ascii_lowercase()
        - b'a';
    let digits = &text[1..];
    if let Some(rest) = digits.strip_prefix("10") {
        return Some(((file.into(), 10), rest));
    }
    let digit = digits.bytes().next().filter(u8::is_ascii_digit)? - b'0';
    Some(((file.into(), digit.into()), &digits[1..]))
}

fn locate(ends: [(usize, usize); 2], lowest: usize) -> Option<Move> {
    let [from, to] = ends.map(|(file, rank)| Square::at(file, rank.checked_sub(lowest)?));
    Some(join(from?, to?))
}

/// Splits a word of Chinese moves without blanks, 炮二平五马8进7, into moves of four characters. Other
/// words stay whole.
pub(super) fn split_entries(word: &str) -> Vec<&str> {
    const LENGTH: usize = 4;
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    if word.is_ascii() || !starts.len().is_multiple_of(LENGTH) {
        return Vec::from([word]);
    }
    let ends = starts
        .iter()
        .copied()
        .step_by(LENGTH)
        .skip(1)
        .chain([word.len()]);
    let starts = starts.iter().copied().step_by(LENGTH);
    starts.zip(ends).map(|(from, to)| &word[from..to]).collect()
}

fn side(word: &str) -> Option<Side> {
    match word {
        "w" | "W" | "r" | "R" => Some(Side::First),
        "b" | "B" => Some(Side::Second),
        _ => None,
    }
}

/// `rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1`.
pub(super) fn fen(variant: Variant) -> FenDialect<Piece> {
    FenDialect {
        variant,
        columns: FILES,
        rows: RANKS,
        piece: Piece::from_letter,
        side,
        sides: "w (or r) or b",
    }
}
