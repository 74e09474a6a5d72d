use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::geometry::Cell;
use super::packing;
use crate::notation::board_text::{BoardError, read_stones};
use crate::{Move, Packed, Side, Variant};

/// Reads a drawn board into packed bytes; see
/// [`Position::from_board`](crate::Position::from_board).
pub(super) fn read_board(
    variant: Variant,
    text: &str,
    side: Option<Side>,
) -> Result<Packed, BoardError> {
    let (_, size) = variant.gomoku().ok_or(BoardError::NotDrawn(variant))?;
    let (cells, side) = read_stones(variant, size, text, side)?;
    Ok(pack(size, &cells, side))
}

/// Packs the stones of the first and of the second player; see
/// [`Position::from_stones`](crate::Position::from_stones).
pub(crate) fn pack_stones(
    variant: Variant,
    stones: &[Vec<Move>; 2],
    side: Side,
) -> Result<Packed, BoardError> {
    let (_, size) = variant.gomoku().ok_or(BoardError::NotDrawn(variant))?;
    let mut cells = vec![None; usize::from(size).pow(2)];
    for (owner, stones) in [Side::First, Side::Second].into_iter().zip(stones) {
        for m in stones {
            let cell = cells.get_mut(m.index());
            *cell.ok_or_else(|| BoardError::Unreadable("a stone is off the board".into()))? =
                Some(owner);
        }
    }
    Ok(pack(size, &cells, side))
}

fn pack(size: u8, cells: &[Option<Side>], side: Side) -> Packed {
    let stones = cells.iter().zip(0..);
    let stones = stones.filter_map(|(cell, code)| Some((code, (*cell)?)));
    packing::pack(size, side, false, stones)
}

/// Draws the board with coordinates, `[X]` for the last move, and marks in place of the dots of
/// empty points:
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
