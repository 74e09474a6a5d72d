use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Move, MoveError, Variant};

/// Reads `h8`, the column's letter and the row's number, `a1` at the lower left; or Gomocup's
/// `7,7`, column and row from 0, the row counted from the top.
pub(super) fn parse(variant: Variant, size: u8, text: &str) -> Result<Move, MoveError> {
    let (column, row) = match text.split_once(',') {
        Some((column, row)) => {
            number(column).zip(number(row).map(|row| u16::from(size).saturating_sub(row)))
        }
        None => lettered(text),
    }
    .ok_or_else(|| MoveError::Text(text.to_string(), variant))?;
    let size = u16::from(size);
    if column >= size || row == 0 || row > size {
        return Err(MoveError::OffBoard(text.to_string(), variant));
    }
    Ok(Move::new((row - 1) * size + column))
}

/// Reads column (from 0) and row (from 1).
fn lettered(text: &str) -> Option<(u16, u16)> {
    let mut rest = text.chars();
    let letter = rest.next().filter(char::is_ascii_alphabetic)?;
    Some((
        u16::from(letter.to_ascii_lowercase() as u8 - b'a'),
        number(rest.as_str())?,
    ))
}

fn number(digits: &str) -> Option<u16> {
    let plain = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

pub(super) fn write(size: u8, m: Move) -> String {
    let (column, row) = (m.code() % u16::from(size), m.code() / u16::from(size));
    format!("{}{}", char::from(b'a' + column as u8), row + 1)
}

/// Splits a line into moves.
///
/// A line with letters: a move begins at each letter and ends at a blank, comma, underscore,
/// bracket or the next letter; move numbers are skipped. `h8i9`, `h8, i9`, `[h8][i9]` and `1. h8
/// 2.i9` are the same line. A line without letters is Gomocup's `7,7 8,6`: each word is a move.
pub(super) fn split(line: &str) -> Vec<&str> {
    if !line.contains(char::is_alphabetic) {
        return line.split_whitespace().collect();
    }
    let is_gap = |c: char| c.is_whitespace() || ",_[]".contains(c);
    line.split(is_gap)
        .map(without_count)
        .filter(|word| !word.is_empty())
        .flat_map(split_word)
        .collect()
}

/// Returns `h8` of `12.h8`.
fn without_count(word: &str) -> &str {
    match word.split_once('.') {
        Some((count, rest)) if number(count).is_some() => rest,
        _ => word,
    }
}

fn split_word(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    core::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let end = rest[first..]
            .find(char::is_alphabetic)
            .map_or(rest.len(), |next| first + next);
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}
