use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::geometry::{Cell, dimensions};
use super::packing;
use crate::{Move, Packed, Side, Variant};

/// A drawn board that cannot be read. Rows and columns are counted from 1, from the top and from the left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// Only gomoku boards are drawn.
    #[error("a board of {0} cannot be drawn with X and O; give its FEN instead")]
    NotDrawn(Variant),
    /// Not a point.
    #[error(
        "row {row}, column {column}: '{found}' is none of X (first player), O (second player) and . (empty)"
    )]
    Cell {
        /// Which row.
        row: usize,
        /// Which column.
        column: usize,
        /// What stands there.
        found: char,
    },
    /// A row too short or too long.
    #[error("row {row} has {found} points, a board of {variant} has {expected}")]
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
    /// Too few or too many rows.
    #[error("{found} rows are drawn, a board of {variant} has {expected}")]
    Rows {
        /// How many there are.
        found: usize,
        /// How many it needs.
        expected: usize,
        /// Whose board it is.
        variant: Variant,
    },
    /// The stones do not tell whose turn it is.
    #[error(
        "{first} stones of the first player and {second} of the second do not tell who moves; say the side"
    )]
    Side {
        /// Stones of the first player.
        first: usize,
        /// Stones of the second player.
        second: usize,
    },
}

/// The packed position of a drawn board; see [`Position::from_board`](crate::Position::from_board).
pub(crate) fn read_board(
    variant: Variant,
    text: &str,
    side: Option<Side>,
) -> Result<Packed, BoardError> {
    let (_, size) = dimensions(variant).ok_or(BoardError::NotDrawn(variant))?;
    let cells = read_cells(variant, size, text)?;
    let count = |side| cells.iter().filter(|&&cell| cell == Some(side)).count();
    let (first, second) = (count(Side::First), count(Side::Second));
    let side = match side {
        Some(side) => side,
        None if first == second => Side::First,
        None if first == second + 1 => Side::Second,
        None => return Err(BoardError::Side { first, second }),
    };
    let stones = cells
        .iter()
        .zip(0..)
        .filter_map(|(cell, code)| Some((code, (*cell)?)));
    Ok(packing::pack(size, side, false, stones))
}

/// What is on every point, by cell code.
fn read_cells(variant: Variant, size: u8, text: &str) -> Result<Vec<Cell>, BoardError> {
    let expected = usize::from(size);
    let mut rows = Vec::new();
    for line in text
        .lines()
        .map(bare_row)
        .filter(|line| !line.is_empty() && !is_letters(line, size))
    {
        let row = rows.len() + 1;
        let cells: Vec<Cell> = line
            .chars()
            .zip(1..)
            .map(|(c, column)| read_cell(c, row, column))
            .collect::<Result<_, _>>()?;
        if cells.len() != expected {
            return Err(BoardError::Columns {
                row,
                found: cells.len(),
                expected,
                variant,
            });
        }
        rows.push(cells);
    }
    if rows.len() != expected {
        return Err(BoardError::Rows {
            found: rows.len(),
            expected,
            variant,
        });
    }
    Ok(rows.into_iter().rev().flatten().collect())
}

fn read_cell(found: char, row: usize, column: usize) -> Result<Cell, BoardError> {
    match found {
        'X' | 'x' => Ok(Some(Side::First)),
        'O' | 'o' => Ok(Some(Side::Second)),
        '.' | '_' | '-' | '+' => Ok(None),
        _ => Err(BoardError::Cell { row, column, found }),
    }
}

/// A row without blanks, brackets and the numbers at its ends.
fn bare_row(line: &str) -> String {
    let is_decoration = |c: char| c.is_whitespace() || "[]()".contains(c);
    let bare: String = line.chars().filter(|&c| !is_decoration(c)).collect();
    bare.trim_matches(|c: char| c.is_ascii_digit()).to_string()
}

/// Whether this is the line of column letters, `abcdefghijklmno`; it never is a row, for no stone is an `a`.
fn is_letters(row: &str, size: u8) -> bool {
    row.len() == usize::from(size)
        && row
            .bytes()
            .map(|b| b.to_ascii_lowercase())
            .eq((b'a'..).take(row.len()))
}

/// The board with its coordinates, `[X]` being the last move, and a mark instead of the dot of an empty point:
///
/// ```text
/// 3  .  . [O]
/// 2  .  X  1
/// 1  .  .  .
///    a  b  c
/// ```
pub(super) fn draw(size: u8, cells: &[Cell], last: Option<Move>, marks: &[(Move, char)]) -> String {
    let mut text = String::new();
    for (number, row) in (0..u16::from(size))
        .zip(cells.chunks(usize::from(size)))
        .rev()
    {
        text += &alloc::format!("{:>2} ", number + 1);
        for (cell, column) in row.iter().zip(0..) {
            let m = Move::new(number * u16::from(size) + column);
            let stone = match cell {
                Some(Side::First) => 'X',
                Some(Side::Second) => 'O',
                None => marks
                    .iter()
                    .find(|(marked, _)| *marked == m)
                    .map_or('.', |(_, mark)| *mark),
            };
            let is_last = last == Some(m);
            text.extend(if is_last {
                ['[', stone, ']']
            } else {
                [' ', stone, ' ']
            });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text += "  ";
    (b'a'..)
        .take(usize::from(size))
        .for_each(|letter| text.extend([' ', ' ', char::from(letter)]));
    text.push('\n');
    text
}
