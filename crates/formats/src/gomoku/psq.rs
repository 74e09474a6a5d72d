//! Games of Piskvork and Gomocup (`.psq`).

use anyhow::{Context, Result, bail};
use kagetsu_game::{Move, Position, Variant};
use kagetsu_games::GameTags;

use crate::games::tally::{GameResult, Games};
use crate::omissions::{OTHER_GAMES, Omissions, TRUNCATED_FILES};

/// Reads the game of a file.
///
/// # Errors
/// If the file is no such game.
pub(crate) fn read(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let board = head
        .strip_prefix("Piskvorky ")
        .and_then(|rest| rest.split(',').next());
    let sizes = board.and_then(|board| board.trim().split_once('x'));
    let Some((width, height)) =
        sizes.and_then(|(w, h)| Some((w.parse::<u8>().ok()?, h.parse::<u8>().ok()?)))
    else {
        bail!("the first line is not that of a game, as in 'Piskvorky 15x15, 11:11, 0'");
    };
    let mut omissions = Omissions::new();
    let size = match variant.gomoku() {
        Some((_, size)) if (width, height) == (size, size) => u16::from(size),
        _ => {
            let why = format!("a board of {width}x{height}, not of {variant}");
            omissions.omit_text(OTHER_GAMES, "", &why);
            return Ok((Games::default(), 0, omissions));
        }
    };
    let mut moves = Vec::new();
    // A last line without a line end may be cut: `1` of `12`.
    let is_last_whole = text.ends_with('\n');
    let mut lines = (2..).zip(lines).peekable();
    while let Some((number, line)) = lines.next_if(|(_, line)| made(line).is_some()) {
        let Some((x, y, time)) = made(line) else {
            break;
        };
        if !is_last_whole && lines.peek().is_none() {
            omissions.omit(TRUNCATED_FILES, 1);
            if time.is_none() {
                break;
            }
        }
        if !(1..=size).contains(&x) || !(1..=size).contains(&y) {
            bail!("line {number}: the point {x},{y} is off the board of {width}x{height}");
        }
        omissions.omit("times", u64::from(time.is_some_and(|time| time != "0")));
        // Rows are counted from the top.
        moves.push(Move::new((size - y) * size + x - 1));
    }
    // Names and numbers follow the moves; the last of them may be cut before its second number.
    let behind = lines.peek().map(|(number, _)| *number);
    let rest: Vec<&str> = lines.map(|(_, line)| line).collect();
    if let Some(number) = behind.filter(|_| {
        rest.iter()
            .any(|line| made(line).is_some_and(|(.., time)| time.is_some()))
    }) {
        bail!("line {number} is no move, but moves follow it: the file is damaged there");
    }
    let is_number = |text: &str| {
        !text.is_empty()
            && text
                .trim_end_matches(',')
                .bytes()
                .all(|byte| byte.is_ascii_digit())
    };
    omissions.omit(
        TRUNCATED_FILES,
        u64::from(!is_last_whole && rest.len() == 1 && is_number(rest[0])),
    );
    omissions.omit("games_without_moves", u64::from(moves.is_empty()));
    let mut games = Games::default();
    let player = |at: usize| {
        let name = rest.get(at).filter(|name| !is_number(name));
        name.map_or_else(String::new, |name| name.trim().to_string())
    };
    let tags = GameTags {
        first: player(0),
        second: player(1),
        ..GameTags::default()
    };
    let start = Position::start(variant);
    let made = games.play_named(&start, &moves, GameResult::Unknown, tags);
    if made < moves.len() {
        let error = format!("line {}: the move cannot be made in {variant}", made + 2);
        return Err(anyhow::anyhow!(error)).context("another rule may have been played");
    }
    Ok((games, 1, omissions))
}

/// Reads the column and row, from 1, and the time, if any, of a line with a move.
fn made(line: &str) -> Option<(u16, u16, Option<&str>)> {
    let (x, rest) = line.split_once(',')?;
    let (y, time) = rest
        .split_once(',')
        .map_or((rest, None), |(y, time)| (y, Some(time.trim())));
    let time = time.filter(|time| !time.is_empty());
    Some((x.trim().parse().ok()?, y.trim().parse().ok()?, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of moves, and whether the file counts as truncated.
    fn read_counts(text: &str) -> Result<(usize, u64), String> {
        let (games, _, omissions) =
            read(text, Variant::FREESTYLE_15).map_err(|error| format!("{error:#}"))?;
        Ok((
            games.answers("psq").len(),
            omissions.get(TRUNCATED_FILES).copied().unwrap_or(0),
        ))
    }

    #[test]
    fn truncated_game_is_counted() {
        let head = "Piskvorky 15x15, 11:11, 0\n8,8,0\n";
        for (rest, expected) in [
            ("9,9,12\n", (2, 0)),
            ("9,9\n", (2, 0)),
            ("9,9,12\none.zip\nother.zip\n-1", (2, 0)),
            ("9,9,1", (2, 1)),
            // The line may be the beginning of 9,10 or 9,15.
            ("9,1", (1, 1)),
            ("9,1,", (1, 1)),
            ("9,", (1, 1)),
            ("9", (1, 1)),
        ] {
            assert_eq!(
                read_counts(&format!("{head}{rest}")),
                Ok(expected),
                "{rest:?}"
            );
        }
    }

    #[test]
    fn line_without_move_ends_moves_or_is_damage() {
        let outcome = read_counts("Piskvorky 15x15, 11:11, 0\n8,8,0\n9;9,1\n7,7,0\n");
        assert_eq!(
            outcome,
            Err("line 3 is no move, but moves follow it: the file is damaged there".into())
        );
    }
}
