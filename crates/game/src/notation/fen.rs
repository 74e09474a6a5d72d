use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Packed, Side, Variant, quote};

/// The error of an unreadable FEN. Rows count from 1, from the top.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// The game has no FEN.
    #[error("a position of {0} has no FEN; give its moves (--moves) or its drawn board (--board)")]
    None(Variant),
    /// The text is no FEN, or no game comes to its position.
    #[error("{0}")]
    Unreadable(String),
}

/// The letters and words of a game's FEN.
pub(crate) struct FenDialect<P> {
    pub(crate) variant: Variant,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// Returns the piece of a letter.
    pub(crate) piece: fn(char) -> Option<P>,
    /// Returns the side of a word.
    pub(crate) side: fn(&str) -> Option<Side>,
    /// The words for the sides, for error messages.
    pub(crate) sides: &'static str,
}

/// The contents of a FEN.
pub(crate) struct Fen<P> {
    /// By cell code, from the lowest row up.
    pub(crate) cells: Vec<Option<P>>,
    pub(crate) side: Side,
    /// Plies since the last capture.
    pub(crate) quiet: u8,
}

impl<P: Copy> FenDialect<P> {
    pub(crate) fn read(&self, text: &str) -> Result<Fen<P>, FenError> {
        let mut fields = text.split_whitespace();
        let rows = fields.next().unwrap_or_default();
        // Programs of chess with drops write a hand, which other games leave empty.
        let rows = rows
            .strip_suffix("[]")
            .or(rows.strip_suffix("[-]"))
            .unwrap_or(rows);
        let cells = self.read_rows(rows)?;
        let word = fields.next().unwrap_or_default();
        let side = (self.side)(word);
        let side = side.ok_or_else(|| {
            unreadable(format!(
                "'{}' after the rows of the FEN does not tell which side moves: {} is expected",
                quote(word),
                self.sides
            ))
        })?;
        let mut counts = [0; 2];
        for (index, field) in fields.filter(|&field| field != "-").enumerate() {
            let place = counts.get_mut(index).zip(field.parse::<u32>().ok());
            let (place, count) = place.ok_or_else(|| {
                unreadable(format!(
                    "'{}' at the end of the FEN is no number; plies since the last capture and a \
                     move number may stand there",
                    quote(field)
                ))
            })?;
            *place = count;
        }
        Ok(Fen {
            cells,
            side,
            quiet: u8::try_from(counts[0]).unwrap_or(u8::MAX),
        })
    }

    fn read_rows(&self, text: &str) -> Result<Vec<Option<P>>, FenError> {
        let (variant, expected) = (self.variant, self.rows);
        let found = text.split('/').count();
        if found != expected {
            return Err(unreadable(format!(
                "the FEN has {found} rows, a board of {variant} has {expected}"
            )));
        }
        let rows = text
            .split('/')
            .zip(1..)
            .map(|(text, row)| self.read_row(text, row));
        let rows: Vec<Vec<Option<P>>> = rows.collect::<Result<_, _>>()?;
        Ok(rows.into_iter().rev().flatten().collect())
    }

    fn read_row(&self, text: &str, row: usize) -> Result<Vec<Option<P>>, FenError> {
        let (variant, expected) = (self.variant, self.columns);
        let mut cells = Vec::with_capacity(expected);
        for found in text.chars() {
            match (found.to_digit(10), (self.piece)(found)) {
                (Some(gap @ 1..), _) => cells.extend((0..gap).map(|_| None)),
                (None, Some(piece)) => cells.push(Some(piece)),
                _ => {
                    return Err(unreadable(format!(
                        "row {row} of the FEN: '{found}' is no piece of {variant} and no number of \
                         empty points"
                    )));
                }
            }
        }
        let found = cells.len();
        if found == expected {
            Ok(cells)
        } else {
            Err(unreadable(format!(
                "row {row} of the FEN has {found} points, a board of {variant} has {expected}"
            )))
        }
    }
}

fn unreadable(fault: String) -> FenError {
    FenError::Unreadable(fault)
}

/// Writes the rows of a FEN from the letters by cell code.
pub(crate) fn write_rows(columns: usize, letters: &[Option<char>]) -> String {
    let mut text = String::new();
    for row in letters.chunks(columns).rev() {
        if !text.is_empty() {
            text.push('/');
        }
        for run in row.chunk_by(|one, next| one.is_none() && next.is_none()) {
            match run[0] {
                Some(letter) => text.push(letter),
                None => text += &run.len().to_string(),
            }
        }
    }
    text
}

/// Returns the number of the next move, which `side` makes, after `plies`.
pub(crate) fn move_number(plies: usize, side: Side) -> usize {
    let first = if plies.is_multiple_of(2) {
        side
    } else {
        side.other()
    };
    1 + (plies + first.index()) / 2
}

/// Appends the count of quiet plies, as [`Game::unpack`](crate::Game::unpack) takes it.
pub(crate) fn with_count(mut packed: Packed, quiet: u8) -> Packed {
    if quiet > 0 {
        packed.0.push(quiet);
    }
    packed
}

/// Separates the position, of `length` bytes, from its count of quiet plies. A count of zero is not
/// written, so that every position has one form.
pub(crate) fn split_count(bytes: &[u8], length: usize) -> Option<(&[u8], u8)> {
    match bytes.get(length..)? {
        [] => Some((bytes, 0)),
        [quiet] if *quiet > 0 => Some((&bytes[..length], *quiet)),
        _ => None,
    }
}
