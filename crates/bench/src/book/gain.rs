use anyhow::{Result, anyhow};
use kagetsu_game::{Effort, Position, Variant};
use kagetsu_reader::Source;
use kagetsu_search::{Control, EngineOptions};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use serde::Serialize;

use super::walks::openings;
use crate::matches::elo::Tally;
use crate::matches::pair::Players;
use crate::matches::player::{PlayerEngine, PlayerSettings};
use crate::openings::Balanced;

/// Efforts of a move in the games, as shares of the effort of an entry.
const EFFORTS: [(f64, &str); 3] = [(1.0 / 16.0, "1/16"), (1.0, "1"), (4.0, "4")];
/// Positions that may be tried for an opening outside the book.
const MAX_TRIES: u32 = 1_000;

/// The points of the search with the book against the search without it.
#[derive(Serialize)]
pub(super) struct GainJson {
    /// `book` or `outside`.
    openings: &'static str,
    /// The effort of a move, in efforts of an entry of the book.
    effort: &'static str,
    nodes: u64,
    pairs: u32,
    /// The share of the points of the side with the book, with the 95 % interval.
    score: f64,
    low: f64,
    high: f64,
    /// Pairs in which it had 0, 1/2, 1, 1 1/2 and 2 points.
    pentanomial: String,
}

/// The games of all efforts.
#[derive(Default)]
pub(super) struct GainGames {
    pub(super) rows: Vec<GainJson>,
    /// The efforts of a move, in efforts of an entry, at which the book gains nothing; `None` where
    /// that is beyond the efforts that were played.
    pub(super) break_even: Option<f64>,
    /// The positions in which the book was asked in the games with the effort of an entry that
    /// began in it, game by game, and whether it had a move.
    pub(super) asked: Vec<Vec<(Position, bool)>>,
}

/// Plays pairs of games with and without the book, for each effort half of them from outside it.
///
/// # Errors
/// If the book or an engine fails, or there are no balanced openings outside the book.
pub(super) fn play(
    (name, book): (&str, &Source),
    variant: Variant,
    roots: &[Position],
    (pairs, entry_nodes, seed): (u32, u64, u64),
) -> Result<GainGames> {
    let mut dice = StdRng::seed_from_u64(seed);
    let held = openings(book, roots, (pairs - pairs / 2) as usize, &mut dice)?;
    let mut balanced = Balanced::new(variant, seed)?;
    let mut outside = Vec::new();
    for number in 0..MAX_TRIES {
        if outside.len() == (pairs / 2) as usize {
            break;
        }
        let made = balanced.opening(number)?;
        if book.lookup(&made)?.is_none() {
            outside.push(made);
        }
    }
    let (mut games, mut points) = (GainGames::default(), Vec::new());
    for (share, effort) in EFFORTS {
        let nodes = (entry_nodes as f64 * share) as u64;
        let player = |book: Option<&str>| PlayerSettings {
            engine: PlayerEngine::Own(EngineOptions::default()),
            effort: Effort::nodes(nodes.max(1)),
            book: book.map(str::to_string),
        };
        let settings = [player(Some(name)), player(None)];
        for (from, kind) in [(&held, "book"), (&outside, "outside")] {
            let (tally, asked) = play_pairs(&settings, from)?;
            let error = tally.score_error();
            let score = tally.score();
            games.rows.push(GainJson {
                openings: kind,
                effort,
                nodes,
                pairs: tally.pairs(),
                score,
                low: (score - error).max(0.0),
                high: (score + error).min(1.0),
                pentanomial: tally.to_string(),
            });
            if kind == "book" {
                points.push((share, score));
                if share == 1.0 {
                    games.asked = asked;
                }
            }
        }
    }
    games.break_even = break_even(&points);
    Ok(games)
}

type Asked = Vec<Vec<(Position, bool)>>;

fn play_pairs(settings: &[PlayerSettings; 2], openings: &[Position]) -> Result<(Tally, Asked)> {
    let control = Control::new();
    let start = || Players::new(settings, false, &control);
    let played = openings.par_iter().map_init(start, |players, opening| {
        let players = players.as_mut().map_err(|error| anyhow!("{error:#}"))?;
        let pair = players.pair(opening, &control)?;
        Ok((pair, players.asked().to_vec()))
    });
    let played: Vec<_> = played.collect::<Result<_>>()?;
    let (mut tally, mut all) = (Tally::default(), Vec::new());
    for (pair, asked) in played {
        tally.add(pair.map_or(2, |pair| pair.halves().iter().sum()));
        all.extend(asked);
    }
    Ok((tally, all))
}

/// Returns the effort at which the points fall to a half, between two efforts by their logarithms.
fn break_even(points: &[(f64, f64)]) -> Option<f64> {
    points.windows(2).find_map(|two| {
        let [(low, more), (high, less)] = two else {
            return None;
        };
        let part = (more - 0.5) / (more - less);
        (*more > 0.5 && *less <= 0.5).then(|| low * (high / low).powf(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn break_even_lies_between_the_efforts() {
        let even = |points: [f64; 3]| {
            let points = EFFORTS.map(|(share, _)| share).into_iter().zip(points);
            break_even(&points.collect::<Vec<_>>())
        };
        assert_eq!(even([0.7, 0.6, 0.5]), Some(4.0));
        assert_eq!(even([0.7, 0.6, 0.4]), Some(2.0));
        assert_eq!(even([0.6, 0.4, 0.6]), Some(0.25));
        assert_eq!(even([0.7, 0.6, 0.55]), None);
        assert_eq!(even([0.5, 0.5, 0.5]), None);
    }
}
