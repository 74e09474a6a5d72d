use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Side, Variant};

/// The error of an unreadable drawn board. Rows and columns count from 1, from the top left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The game has no board of stones.
    #[error("a board of {0} cannot be drawn with X and O; give its FEN instead")]
    NotDrawn(Variant),
    /// The text or the stones are no board.
    #[error("{0}")]
    Unreadable(String),
}

/// Reads a drawn board of `size` columns and rows. Returns the stones by cell code, from the lowest
/// row up, and the side to move, which follows from the numbers of stones if it is not given.
pub(crate) fn read_stones(
    variant: Variant,
    size: u8,
    text: &str,
    side: Option<Side>,
) -> Result<(Vec<Option<Side>>, Side), BoardError> {
    let cells = read_cells(variant, size, text)?;
    let count = |side| cells.iter().filter(|&&cell| cell == Some(side)).count();
    let (first, second) = (count(Side::First), count(Side::Second));
    let side = match side {
        Some(side) => side,
        None if first == second => Side::First,
        None if first == second + 1 => Side::Second,
        None => {
            return Err(BoardError::Unreadable(format!(
                "{first} stones of the first player and {second} of the second do not tell which side moves; give the side"
            )));
        }
    };
    Ok((cells, side))
}

/// Reads all points, by cell code.
fn read_cells(variant: Variant, size: u8, text: &str) -> Result<Vec<Option<Side>>, BoardError> {
    let expected = usize::from(size);
    let mut rows = Vec::new();
    for line in text
        .lines()
        .map(bare_row)
        .filter(|line| !line.is_empty() && !is_letters(line, size))
    {
        let row = rows.len() + 1;
        let cells: Vec<Option<Side>> = line
            .chars()
            .zip(1..)
            .map(|(c, column)| read_cell(c, row, column))
            .collect::<Result<_, _>>()?;
        if cells.len() != expected {
            let found = cells.len();
            return Err(BoardError::Unreadable(format!(
                "row {row} has {found} points, a board of {variant} has {expected}"
            )));
        }
        rows.push(cells);
    }
    if rows.len() != expected {
        let found = rows.len();
        return Err(BoardError::Unreadable(format!(
            "{found} rows are drawn, a board of {variant} has {expected}"
        )));
    }
    Ok(rows.into_iter().rev().flatten().collect())
}

fn read_cell(found: char, row: usize, column: usize) -> Result<Option<Side>, BoardError> {
    match found {
        'X' | 'x' => Ok(Some(Side::First)),
        'O' | 'o' => Ok(Some(Side::Second)),
        '.' | '_' | '-' | '+' => Ok(None),
        _ => Err(BoardError::Unreadable(format!(
            "row {row}, column {column}: '{found}' is none of X (first player), O (second player) and . (empty)"
        ))),
    }
}

/// Removes blanks, brackets and the numbers at both ends from a row.
fn bare_row(line: &str) -> String {
    let is_decoration = |c: char| c.is_whitespace() || "[]()".contains(c);
    let bare: String = line.chars().filter(|&c| !is_decoration(c)).collect();
    bare.trim_matches(|c: char| c.is_ascii_digit()).to_string()
}

/// Whether this is the line of column letters, `abcdefghijklmno`. No row looks like it, since no
/// stone is an `a`.
fn is_letters(row: &str, size: u8) -> bool {
    row.len() == usize::from(size)
        && row
            .bytes()
            .map(|b| b.to_ascii_lowercase())
            .eq((b'a'..).take(row.len()))
}
