//! Games of Piskvork and Gomocup (`.psq`).

use anyhow::{Context, Result, bail};
use kagetsu_game::{Move, Position, Variant};

use super::games::{Ending, Games};
use super::{Losses, lose};

/// The game of a file.
///
/// # Errors
/// If it is none, or was played on another board.
pub(super) fn read(text: &str, variant: Variant) -> Result<(Games, u64, Losses)> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let board = head.strip_prefix("Piskvorky ").and_then(|rest| rest.split(',').next());
    let sizes = board.and_then(|board| board.trim().split_once('x'));
    let Some((width, height)) = sizes.and_then(|(w, h)| Some((w.parse::<u8>().ok()?, h.parse::<u8>().ok()?))) else {
        bail!("the first line is not that of a game, as in 'Piskvorky 15x15, 11:11, 0'");
    };
    let size = match variant {
        Variant::Gomoku { size, .. } if (width, height) == (size, size) => u16::from(size),
        _ => bail!("the game is one of gomoku on a board of {width}x{height}, not of {variant}"),
    };
    let mut losses = Losses::new();
    let mut moves = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let Some((x, rest)) = line.split_once(',') else { break };
        let (y, time) = rest.split_once(',').unwrap_or((rest, "0"));
        let Some((x, y)) = x.trim().parse::<u16>().ok().zip(y.trim().parse::<u16>().ok()) else { break };
        if !(1..=size).contains(&x) || !(1..=size).contains(&y) {
            bail!("line {number}: the point {x},{y} is off the board of {width}x{height}");
        }
        lose(&mut losses, "times", u64::from(time.trim() != "0"));
        // Rows are counted from the top.
        moves.push(Move::new((size - y) * size + x - 1));
    }
    let mut games = Games::default();
    let made = games.play(&Position::start(variant), &moves, Ending::Unknown);
    if made < moves.len() {
        let error = format!("line {}: the move cannot be made in {variant}", made + 2);
        return Err(anyhow::anyhow!(error)).context("another rule may have been played");
    }
    Ok((games, 1, losses))
}
