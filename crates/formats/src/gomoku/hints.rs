//! Hints for a build that looks for a proof: one line of moves each, the last of which is worth a
//! try in the position before it.

use anyhow::{Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Claim, Position, Variant};

use crate::games::tally::Games;
use crate::omissions::Omissions;
use crate::openings;
use crate::xiangqi::colours::others;

/// Reads hints, one a line. Blank lines and text after `#` are skipped.
///
/// # Errors
/// The first invalid line, by its number.
pub(crate) fn read(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    if variant.gomoku().is_none() {
        bail!("hints are of gomoku, not of {variant}");
    }
    let (mut games, mut count) = (Games::default(), 0);
    for end in openings::of_lines(text, variant)? {
        if let Some((last, before)) = end.moves().split_last() {
            games.add(&Position::new(variant, None, before)?, *last, 0);
            count += 1;
        }
    }
    Ok((games, count, Omissions::new()))
}

/// Writes the winning moves of a book that no search of threats finds: those that win because of
/// the positions behind them.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(book: &Book, variant: Variant) -> Result<(String, u64, Omissions)> {
    if variant.gomoku().is_none() {
        bail!("hints are of gomoku, not of {variant}");
    }
    let (mut text, mut count, mut omissions) = (String::new(), 0, Omissions::new());
    for entry in book.positions() {
        let entry = entry?;
        if entry.position.variant() != variant {
            // Positions of other games are counted below.
            continue;
        }
        let derived = entry.derived;
        let is_won = derived.proof.is_some_and(|proof| proof.claim == Claim::Win);
        let quiet = derived.best.filter(|m| {
            let searched = entry.facts.get(*m);
            is_won && searched.is_some_and(|verdict| verdict.proof.is_none())
        });
        let Some((line, m)) = entry.position.line().zip(quiet) else {
            omissions.omit("positions_without_a_quiet_win", 1);
            continue;
        };
        let mut names: Vec<String> = line.iter().map(|m| entry.position.write_move(*m)).collect();
        names.push(entry.position.write_move(m));
        text += &names.join(" ");
        text.push('\n');
        count += 1;
    }
    omissions.omit("positions_of_other_games", others(book, variant)?);
    Ok((text, count, omissions))
}
