use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Packed, Side, UnpackError, Variant};

/// A position text (FEN) that cannot be read. Rows are counted from 1, from the top, as they are written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// The game has no such text.
    #[error("a position of {0} has no FEN; give its moves (--moves) or its drawn board (--board)")]
    None(Variant),
    /// Too few or too many rows.
    #[error("the FEN has {found} rows, a board of {variant} has {expected}")]
    Rows {
        /// How many there are.
        found: usize,
        /// How many it needs.
        expected: usize,
        /// Whose board it is.
        variant: Variant,
    },
    /// A row too short or too long.
    #[error("row {row} of the FEN has {found} points, a board of {variant} has {expected}")]
    Columns {
        /// Which row.
        row: usize,
        /// How many points it has.
        found: usize,
        /// How many it needs.
        expected: usize,
        /// Whose board it is.
        variant: Variant,
    },
    /// Not a piece and not a number of empty points.
    #[error(
        "row {row} of the FEN: '{found}' is no piece of {variant} and no number of empty points"
    )]
    Piece {
        /// Which row.
        row: usize,
        /// What stands there.
        found: char,
        /// Whose piece it should be.
        variant: Variant,
    },
    /// Nobody's turn.
    #[error("'{found}' after the rows of the FEN does not tell who moves: {expected} is expected")]
    Side {
        /// What stands there; empty where the text ends.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// Something else than the two counts at the end.
    #[error(
        "'{0}' at the end of the FEN is no number; plies since the last capture and a move number may stand there"
    )]
    Count(String),
    /// The text is well, and such a position cannot be.
    #[error("no game of {} comes to this position: {}", .0.variant, .0.reason)]
    Impossible(UnpackError),
}

/// What a game reads and writes in its own way.
pub(crate) struct Dialect<P> {
    pub(crate) variant: Variant,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// The piece of a letter.
    pub(crate) piece: fn(char) -> Option<P>,
    /// The side of a word.
    pub(crate) side: fn(&str) -> Option<Side>,
    /// The words for the sides, for an error message.
    pub(crate) sides: &'static str,
}

/// What a FEN says.
pub(crate) struct Fen<P> {
    /// By cell code: from the lowest row up.
    pub(crate) cells: Vec<Option<P>>,
    pub(crate) side: Side,
    /// Plies since the last capture.
    pub(crate) quiet: u8,
}

impl<P: Copy> Dialect<P> {
    pub(crate) fn read(&self, text: &str) -> Result<Fen<P>, FenError> {
        let mut fields = text.split_whitespace();
        let cells = self.read_rows(fields.next().unwrap_or_default())?;
        let word = fields.next().unwrap_or_default();
        let side = (self.side)(word);
        let side = side.ok_or_else(|| FenError::Side {
            found: word.to_string(),
            expected: self.sides,
        })?;
        let mut counts = [0; 2];
        for (index, field) in fields.filter(|&field| field != "-").enumerate() {
            let count: Option<u32> = field.parse().ok();
            let place = counts.get_mut(index);
            *place.ok_or_else(|| FenError::Count(field.to_string()))? =
                count.ok_or_else(|| FenError::Count(field.to_string()))?;
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
            return Err(FenError::Rows {
                found,
                expected,
                variant,
            });
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
                    return Err(FenError::Piece {
                        row,
                        found,
                        variant,
                    });
                }
            }
        }
        let found = cells.len();
        if found == expected {
            Ok(cells)
        } else {
            Err(FenError::Columns {
                row,
                found,
                expected,
                variant,
            })
        }
    }
}

/// The rows of a FEN from the letters on the board, given by cell code.
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

/// The number of the move about to be made, after `plies` that led to `side` being on move.
pub(crate) fn move_number(plies: usize, side: Side) -> usize {
    let first = if plies.is_multiple_of(2) {
        side
    } else {
        side.other()
    };
    1 + (plies + first.index()) / 2
}

/// The packed position with its count of quiet plies, as [`Game::unpack`](crate::Game::unpack) takes it.
pub(crate) fn with_count(mut packed: Packed, quiet: u8) -> Packed {
    if quiet > 0 {
        packed.0.push(quiet);
    }
    packed
}

/// Takes the count off again; bytes that are as long as a position alone have none. A count of zero is not written, so
/// that no position has two forms.
pub(crate) fn split_count(bytes: &[u8], length: usize) -> Option<(&[u8], u8)> {
    match bytes.get(length..)? {
        [] => Some((bytes, 0)),
        [quiet] if *quiet > 0 => Some((&bytes[..length], *quiet)),
        _ => None,
    }
}
