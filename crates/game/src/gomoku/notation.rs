use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Move, MoveError, Variant};

/// `h8`: the column's letter (no letter is left out), then the row's number; `a1` is the lower left corner.
pub(super) fn parse(variant: Variant, size: u8, text: &str) -> Result<Move, MoveError> {
    let no_move = || MoveError::Text(text.to_string(), variant);
    let mut letters = text.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic).ok_or_else(no_move)?;
    let digits = letters.as_str();
    if digits.is_empty() || digits.len() > 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(no_move());
    }
    let column = u16::from(letter.to_ascii_lowercase() as u8 - b'a');
    let row: u16 = digits.parse().map_err(|_| no_move())?;
    let size = u16::from(size);
    if column >= size || row == 0 || row > size {
        return Err(MoveError::OffBoard(text.to_string(), variant));
    }
    Ok(Move::new((row - 1) * size + column))
}

pub(super) fn write(size: u8, m: Move) -> String {
    let (column, row) = (m.code() % u16::from(size), m.code() / u16::from(size));
    format!("{}{}", char::from(b'a' + column as u8), row + 1)
}

/// A move begins at every letter and ends at a blank, a comma or the next letter.
pub(super) fn split(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for word in line.split([' ', ',', '\t', '_']).filter(|word| !word.is_empty()) {
        let starts: Vec<usize> =
            word.char_indices().filter(|&(i, c)| i == 0 || c.is_alphabetic()).map(|(i, _)| i).collect();
        for (n, &start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).copied().unwrap_or(word.len());
            tokens.push(&word[start..end]);
        }
    }
    tokens
}
