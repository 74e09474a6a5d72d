//! The tables of Li, Hu and Wang's paper on surakarta beside figures of ours.

use std::time::Instant;

use anyhow::{Context, Result};
use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Effort, Position, Question, Side, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};
use serde::Serialize;

/// A way to search: its name, its settings (see `bench match --help`), the greatest depth that is
/// searched in a few minutes, and the paper's milliseconds (table 1, depth 7) for the first move
/// and the mean of ten moves.
type SurakartaSetting = (&'static str, &'static str, u8, [f64; 2]);

const TABLE: [f64; 2] = [1_008.0, 28_000.0];
const SETTINGS: [SurakartaSetting; 4] = [
    (
        "plain alpha-beta",
        "constants=evalue,selective=off,table=0,seed=off",
        7,
        [23_190.0, 120_000.0],
    ),
    (
        "table, iterations",
        "constants=evalue,selective=off",
        9,
        TABLE,
    ),
    ("selective too", "constants=evalue", 20, TABLE),
    ("Kagetsu as it is", "", 20, TABLE),
];
/// Says how the figures were made.
pub(super) const METHOD: &str = "Wall-clock time on this machine. Theirs: Li, Hu and Wang's \
    tables, depth 7, where no unit is printed: seconds, we think; no machine is named. All of ours \
    look at captures beyond their depth. Moves: the first ten of a game against itself, in \
    milliseconds (table 1). Games: stones more than the opponent at the end of the game from the \
    start (table 2); the mean is that of the games after each distinct first move, and the points \
    are of those games.";
/// Moves of a game that are timed.
const MOVES: usize = 10;
/// Plies at which a game of table 2 is broken off.
const LONGEST: usize = 300;

/// The tables at some depths; theirs are of depth 7.
#[derive(Default, Serialize)]
pub(super) struct SurakartaSeeds {
    moves: Vec<SurakartaMoves>,
    games: Vec<SurakartaGames>,
}

/// Table 1, one setting; `None` where the depth takes too long.
#[derive(Serialize)]
struct SurakartaMoves {
    name: &'static str,
    depth: u8,
    settings: &'static str,
    their_first_ms: f64,
    first_ms: Option<f64>,
    their_mean_ms: f64,
    mean_ms: Option<f64>,
    nodes_a_move: Option<f64>,
}

/// Table 2, one pair: stones more than the opponent at the end of the game from the start, and of
/// the games after each first move.
#[derive(Serialize)]
struct SurakartaGames {
    depth: u8,
    first: &'static str,
    second: &'static str,
    theirs: i32,
    ours: i32,
    mean: f64,
    won: usize,
    drawn: usize,
    lost: usize,
}

impl SurakartaSeeds {
    /// Measures both tables at a depth.
    pub(super) fn add(&mut self, engine: EngineOptions, depth: u8) -> Result<()> {
        for setting in SETTINGS {
            self.moves.push(time_moves(setting, engine, depth)?);
        }
        self.games.extend(play_games(engine, depth)?);
        Ok(())
    }
}

fn time_moves(
    (name, settings, deepest, [their_first_ms, their_mean_ms]): SurakartaSetting,
    engine: EngineOptions,
    depth: u8,
) -> Result<SurakartaMoves> {
    let ours = (depth <= deepest)
        .then(|| moves(format!("{engine},{settings}").parse()?, depth))
        .transpose()?;
    let add = |[ms, nodes]: [f64; 2], moved: &[f64; 2]| [ms + moved[0], nodes + moved[1]];
    let sums = ours.as_ref().map(|moves| moves.iter().fold([0.0; 2], add));
    Ok(SurakartaMoves {
        name,
        depth,
        settings,
        their_first_ms,
        first_ms: ours.as_ref().map(|moves| moves[0][0]),
        their_mean_ms,
        mean_ms: sums.map(|[ms, _]| ms / MOVES as f64),
        nodes_a_move: sums.map(|[_, nodes]| nodes / MOVES as f64),
    })
}

/// Both evaluations move first, from the start and after each first move.
fn play_games(engine: EngineOptions, depth: u8) -> Result<Vec<SurakartaGames>> {
    let [evalue, count] =
        ["evalue", "count"].map(|name| format!("{engine},constants={name}").parse());
    let (evalue, count): (EngineOptions, EngineOptions) = (evalue?, count?);
    let start = Position::start(Variant::SURAKARTA);
    let openings = start.distinct_moves().into_iter();
    let openings: Vec<Position> = openings.map(|m| start.play(m)).collect::<Result<_, _>>()?;
    let mut games = Vec::new();
    for (first, second, players, theirs) in [
        ("Evalue", "Value-2", [evalue, count], 4),
        ("Value-2", "Evalue", [count, evalue], -3),
    ] {
        let ours = stones(players, &start, depth)?;
        let all = openings
            .iter()
            .map(|opening| stones(players, opening, depth))
            .collect::<Result<Vec<_>>>()?;
        let times = |is: &dyn Fn(i32) -> bool| all.iter().filter(|&&stones| is(stones)).count();
        games.push(SurakartaGames {
            depth,
            first,
            second,
            theirs,
            ours,
            mean: f64::from(all.iter().sum::<i32>()) / all.len() as f64,
            won: times(&|stones| stones > 0),
            drawn: times(&|stones| stones == 0),
            lost: times(&|stones| stones < 0),
        });
    }
    Ok(games)
}

/// Returns the milliseconds and the nodes of the first moves of a game of the engine against
/// itself.
fn moves(options: EngineOptions, depth: u8) -> Result<Vec<[f64; 2]>> {
    let mut engine = Engine::new(options)?;
    let mut position = Position::start(Variant::SURAKARTA);
    let mut moves = Vec::new();
    while moves.len() < MOVES {
        let (begun, mut nodes) = (Instant::now(), 0);
        let question = Question::new(position.clone(), Effort::depth(depth));
        let answer = engine.answer(&question, &Control::new(), &mut |progress| {
            nodes = progress.nodes
        })?;
        moves.push([begun.elapsed().as_secs_f64() * 1e3, nodes as f64]);
        let (best, _) = answer
            .best()
            .context("the game has ended within its first moves")?;
        position = position.play(best)?;
    }
    Ok(moves)
}

/// Returns the first player's stones minus the second's at the end of the game, or when it has
/// become too long.
fn stones(players: [EngineOptions; 2], opening: &Position, depth: u8) -> Result<i32> {
    let mut engines = [Engine::new(players[0])?, Engine::new(players[1])?];
    let mut position = opening.clone();
    while position.outcome().is_none() && position.moves().len() < LONGEST {
        let question = Question::new(position.clone(), Effort::depth(depth));
        let answer =
            engines[position.side().index()].answer(&question, &Control::new(), &mut |_| {})?;
        let (best, _) = answer.best().context("an engine gave no move")?;
        position = position.play(best)?;
    }
    let game: Surakarta = position.game();
    let [first, second] =
        [Side::First, Side::Second].map(|side| i32::from(game.board().count(side)));
    Ok(first - second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_figures() {
        let mut measured = SurakartaSeeds::default();
        measured.add(EngineOptions::default(), 1).expect("figures");
        assert!(measured.moves.iter().all(|row| row.mean_ms.is_some()));
        assert!(
            measured
                .games
                .iter()
                .all(|row| row.won + row.drawn + row.lost > 0)
        );
    }
}
