//! Where the sides of annotated games left the book.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;
use kagetsu_compiled::Choice;
use kagetsu_formats::GameTree;
use kagetsu_game::{Answer, Move, Notation, Side, Verdict};
use kagetsu_terminal::table;
use serde::Serialize;

use crate::commands::verdict_on;

/// Moves that name the opening of a game.
const OPENING_MOVES: usize = 3;
/// Departures that are listed one by one; more are gathered by player and opening.
const MAX_LISTED_DEPARTURES: usize = 20;

/// The first move of a side that the book knows a better one for, or lacks among moves without a
/// value.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct DepartureJson {
    /// The number of the game in its file, from 1.
    game: usize,
    /// `first` or `second`.
    side: String,
    /// The player's name; empty where the file does not say it.
    player: String,
    /// The first moves of the game.
    opening: String,
    /// The number of the move in the game, from 1.
    ply: usize,
    played: String,
    /// The book's best move.
    book: String,
    /// The loss against it, in centi-units; `None` where the book has no value of the move.
    loss: Option<u32>,
}

/// Follows the main line of a game through the book.
pub(super) struct Departures<'a> {
    game: &'a GameTree,
    number: usize,
    notation: Notation,
    found: Vec<DepartureJson>,
}

impl<'a> Departures<'a> {
    pub(super) fn new(game: &'a GameTree, number: usize, notation: Notation) -> Self {
        Self {
            game,
            number,
            notation,
            found: Vec::new(),
        }
    }

    /// Notes a move of the main line from a position that the book holds as `answer`, and what it
    /// loses.
    pub(super) fn note(&mut self, at: usize, answer: &Answer, loss: Option<u32>) {
        let made = &self.game.moves[at];
        let side = made.before.side();
        let left = |(best, verdict): &&(Move, Verdict)| match verdict.is_silent() {
            true => verdict_on(&made.before, answer, made.at).is_none(),
            false => *best != made.at && verdict.is_exact() && loss != Some(0),
        };
        let Some(&(best, _)) = Choice::default().pick(answer).filter(left) else {
            return;
        };
        let tags = &self.game.tags;
        let player = match side {
            Side::First => &tags.first,
            Side::Second => &tags.second,
        };
        let main_line = self.game.main_line();
        let ply = main_line.iter().position(|known| *known == at);
        let line: Vec<_> = main_line.iter().map(|at| self.game.moves[*at].at).collect();
        let opening = &line[..line.len().min(OPENING_MOVES)];
        let write = |m| made.before.write_move_in(m, self.notation);
        self.found.push(DepartureJson {
            game: self.number,
            side: side.to_string(),
            player: player.clone(),
            opening: self
                .game
                .start
                .write_line_in(opening, self.notation)
                .join(" "),
            ply: ply.map_or(0, |before| before + 1),
            played: write(made.at),
            book: write(best),
            loss,
        });
    }

    /// Returns the first departure of each side.
    pub(super) fn end(mut self) -> Vec<DepartureJson> {
        self.found.sort_by_key(|left| left.ply);
        let mut gone = BTreeSet::new();
        self.found.retain(|left| gone.insert(left.side.clone()));
        self.found
    }
}

/// Writes the departures of all files: each, or a line for each player and opening.
pub(super) fn write(out: &mut dyn Write, all: &[(&str, &DepartureJson)]) -> Result<()> {
    let cost =
        |loss: Option<f64>| loss.map_or_else(String::new, |loss| format!("{:.2}", loss / 100.0));
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "these left the book, each at its first move that the book lacks or knows a better one for:"
    )?;
    if all.len() <= MAX_LISTED_DEPARTURES {
        let rows = all.iter().map(|(file, left)| {
            [
                format!("{file} {}", left.game),
                left.side.clone(),
                left.player.clone(),
                left.ply.to_string(),
                left.played.clone(),
                left.book.clone(),
                cost(left.loss.map(f64::from)),
            ]
        });
        let heads = ["game", "side", "player", "move", "played", "book", "loss"];
        return table::write(out, &heads, &[], rows);
    }
    let mut groups: BTreeMap<(&str, &str), Vec<&DepartureJson>> = BTreeMap::new();
    for (_, left) in all {
        groups
            .entry((&left.player, &left.opening))
            .or_default()
            .push(left);
    }
    let heads = ["player", "opening", "games", "left at move", "loss"];
    let rows = groups.into_iter().map(|((player, opening), group)| {
        let plies: usize = group.iter().map(|left| left.ply).sum();
        let known: Vec<u32> = group.iter().filter_map(|left| left.loss).collect();
        let mean = f64::from(known.iter().sum::<u32>()) / known.len().max(1) as f64;
        [
            player.to_string(),
            opening.to_string(),
            group.len().to_string(),
            format!("{:.1}", plies as f64 / group.len() as f64),
            cost((!known.is_empty()).then_some(mean)),
        ]
    });
    table::write(out, &heads, &[], rows)
}
