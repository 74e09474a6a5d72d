//! Positions of old renju collections (`.pos`): the number of moves, and a byte for each move or
//! pass.

use anyhow::{Context, Result, ensure};
use kagetsu_game::{Move, Position, Variant};

use crate::games::pass::passed;
use crate::games::tally::{GameResult, Games};
use crate::omissions::Omissions;

/// The board size of these files.
const SIZE: u8 = 15;
/// The byte of a pass.
const PASS: u8 = 240;

/// Reads the moves of a file.
///
/// # Errors
/// If the file is no such position, or the variant has another board.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    let is_on_board = variant.gomoku().is_some_and(|(_, size)| size == SIZE);
    ensure!(
        is_on_board,
        "a .pos file is of gomoku on a board of 15x15, not of {variant}"
    );
    let (count, rest) = bytes.split_first().context("it is empty")?;
    let count = usize::from(*count);
    ensure!(
        rest.len() >= count,
        "it ends after {} of {count} moves",
        rest.len()
    );
    let (mut games, mut omissions) = (Games::default(), Omissions::new());
    let mut start = Position::start(variant);
    let mut position = start.clone();
    for (number, byte) in (1..).zip(&rest[..count]) {
        if *byte == PASS {
            games.play(&start, position.moves(), GameResult::Unknown);
            start = passed(&position).with_context(|| format!("byte {number}: a pass"))?;
            position = start.clone();
            continue;
        }
        // Rows count from the top.
        let (row, column) = (byte / SIZE, byte % SIZE);
        ensure!(
            row < SIZE,
            "byte {number}: the point {byte} is off the board of 15x15"
        );
        let cell = u16::from(SIZE - 1 - row) * u16::from(SIZE) + u16::from(column);
        position = position
            .play(Move::new(cell))
            .with_context(|| format!("byte {number}"))?;
    }
    games.play(&start, position.moves(), GameResult::Unknown);
    let behind = (rest.len() - count) as u64;
    omissions.omit("bytes_behind_the_end", behind);
    Ok((games, 1, omissions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_read_from_top_row() {
        let read = |bytes: &[u8]| read(bytes, Variant::RENJU_15);
        // The centre, and the points right of it and below.
        let (games, count, omissions) = read(&[3, 112, 113, 127, 0]).expect("a position");
        let played = &games.records()[0].played;
        assert_eq!(played.to_string(), "renju-15 h8 i8 h7");
        assert_eq!((count, omissions["bytes_behind_the_end"]), (1, 1));
        // A pass parts the moves; the one behind it is of the same side.
        let (games, ..) = read(&[5, 112, 113, 127, 240, 114]).expect("a position");
        let second = &games.records()[1].played;
        assert!(
            second.setup().is_some() && second.moves().len() == 1,
            "{second}"
        );
        for (bytes, part) in [
            (&[][..], "empty"),
            (&[2, 112], "after 1 of 2"),
            (&[1, 225], "byte 1: the point 225 is off"),
            (&[2, 112, 112], "byte 2"),
        ] {
            let error = read(bytes).map(|_| ()).expect_err("wrong");
            assert!(format!("{error:#}").contains(part), "{error:#}");
        }
    }
}
