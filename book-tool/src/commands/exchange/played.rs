//! The imported games of a book as a file.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_formats::{Format, GameTree, write_game};
use kagetsu_game::{Notation, Position, Variant};
use kagetsu_games::{FoundGame, GameFilter, GameRecord, GameStore};

/// Returns the number of games that were imported into a book's folder.
///
/// # Errors
/// If they cannot be read.
pub(super) fn count(book: &Path) -> Result<u64> {
    // A URL names no folder that has a file of games.
    GameStore::open(book)?.map_or(Ok(0), |store| Ok(store.count()?))
}

/// Writes the games of a folder, or those that passed `root`; returns their number.
///
/// # Errors
/// If the folder has no games of the format, or the disk refuses.
pub(super) fn write(
    book: &str,
    (format, notation): (Format, Notation),
    variant: Option<Variant>,
    root: Option<&Position>,
    out: &mut dyn Write,
) -> Result<u64> {
    if book.contains("://") {
        bail!(
            "--format {}: games are exported from a book folder, not from {book}",
            format.name()
        );
    }
    let store = GameStore::open(book.as_ref())?;
    let store = store.with_context(|| {
        format!("{book} has no imported games; `kagetsu import` keeps games that have players, event or date")
    })?;
    let mut written = 0;
    let mut put = |games: &[GameRecord]| -> Result<()> {
        for game in games {
            let played = game.played.variant();
            let is_of_format = played.gomoku().is_some() == (format == Format::Sgf);
            if !is_of_format || variant.is_some_and(|variant| variant != played) {
                continue;
            }
            if let Some(text) = write_game(&GameTree::from(game), &[], notation) {
                writeln!(out, "{text}")?;
                written += 1;
            }
        }
        Ok(())
    };
    match root {
        None => store.for_each(|games| put(games))?,
        Some(root) => {
            let found = store.find(root, &GameFilter::default(), u32::MAX)?;
            let games = found.played.into_iter().map(|FoundGame { game, .. }| game);
            put(&games.collect::<Vec<_>>())?;
        }
    }
    ensure!(
        written > 0,
        "{book} has no imported game for --format {}",
        format.name()
    );
    Ok(written)
}
