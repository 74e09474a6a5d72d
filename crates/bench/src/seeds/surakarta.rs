//! The tables of Li, Hu and Wang's paper on surakarta beside figures of ours.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Effort, Position, Question, Side, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};

use kagetsu_terminal::table;
use serde::Serialize;

use super::figures::cell;

/// A way to search, and the paper's seconds (table 1, depth 7) for the first move and the mean of
/// ten moves.
struct SurakartaSetting {
    name: &'static str,
    /// As text; see `bench match --help`.
    options: &'static str,
    theirs: Option<[f64; 2]>,
    /// The greatest depth that is searched in a few minutes.
    deepest: u8,
}

const SETTINGS: [SurakartaSetting; 4] = [
    SurakartaSetting {
        name: "plain alpha-beta",
        options: "constants=evalue,selective=off,table=0,seed=off",
        theirs: Some([23.19, 120.0]),
        deepest: 7,
    },
    SurakartaSetting {
        name: "table, iterations",
        options: "constants=evalue,selective=off",
        theirs: Some([1.008, 28.0]),
        deepest: 9,
    },
    SurakartaSetting {
        name: "selective too",
        options: "constants=evalue",
        theirs: Some([1.008, 28.0]),
        deepest: 20,
    },
    SurakartaSetting {
        name: "Kagetsu as it is",
        options: "",
        theirs: Some([1.008, 28.0]),
        deepest: 20,
    },
];
/// Moves of a game that are timed.
const MOVES: usize = 10;
/// Plies at which a game of table 2 is broken off.
const LONGEST: usize = 300;

/// The tables at one depth; theirs are of depth 7.
#[derive(Serialize)]
pub(super) struct SurakartaSeeds {
    depth: u8,
    moves: Vec<SurakartaMoves>,
    games: Vec<SurakartaGames>,
}

/// Table 1, one setting: milliseconds of the first move and the mean of ten; `None` where the
/// depth takes too long.
#[derive(Serialize)]
struct SurakartaMoves {
    name: &'static str,
    settings: &'static str,
    their_first_ms: Option<f64>,
    first_ms: Option<f64>,
    their_mean_ms: Option<f64>,
    mean_ms: Option<f64>,
    nodes_a_move: Option<f64>,
}

/// Table 2, one pair: stones more than the opponent at the end of the game from the start, and of
/// the games after each first move.
#[derive(Serialize)]
struct SurakartaGames {
    first: &'static str,
    second: &'static str,
    theirs: i32,
    ours: i32,
    mean: f64,
    won: usize,
    drawn: usize,
    lost: usize,
}

/// Measures both tables.
pub(super) fn measure(engine: EngineOptions, depth: u8) -> Result<SurakartaSeeds> {
    let moves = SETTINGS
        .iter()
        .map(|setting| time_moves(setting, engine, depth));
    Ok(SurakartaSeeds {
        depth,
        moves: moves.collect::<Result<_>>()?,
        games: play_games(engine, depth)?,
    })
}

fn time_moves(
    setting: &SurakartaSetting,
    engine: EngineOptions,
    depth: u8,
) -> Result<SurakartaMoves> {
    let ours = (depth <= setting.deepest)
        .then(|| moves(format!("{engine},{}", setting.options).parse()?, depth))
        .transpose()?;
    let ours = ours.as_deref();
    Ok(SurakartaMoves {
        name: setting.name,
        settings: setting.options,
        their_first_ms: setting.theirs.map(|[first, _]| first * 1e3),
        first_ms: ours.map(|moves| moves[0].ms()),
        their_mean_ms: setting.theirs.map(|[_, mean]| mean * 1e3),
        mean_ms: ours.map(|moves| mean(moves, MoveCost::ms)),
        nodes_a_move: ours.map(|moves| mean(moves, |moved| moved.nodes as f64)),
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

impl SurakartaSeeds {
    /// Writes both tables with their method.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let depth = self.depth;
        writeln!(
            out,
            "Surakarta at depth {depth}, wall-clock time on this machine. Theirs: Li, Hu and Wang's tables, depth 7,"
        )?;
        writeln!(
            out,
            "where no unit is printed: seconds, we think; no machine is named. All of ours look at captures"
        )?;
        writeln!(out, "beyond their depth.\n")?;
        writeln!(
            out,
            "The first {MOVES} moves of a game against itself, in milliseconds (table 1)"
        )?;
        self.write_moves(out)?;
        let openings = self.games.first().map_or(0, SurakartaGames::count);
        writeln!(
            out,
            "\nStones more than the opponent at the end (table 2); the mean is that of the games after each of the"
        )?;
        writeln!(
            out,
            "{openings} distinct first moves, and the points are of those games"
        )?;
        self.write_games(out)
    }

    fn write_moves(&self, out: &mut dyn Write) -> Result<()> {
        let header = [
            "",
            "first: theirs",
            "ours",
            "theirs / ours",
            "mean: theirs",
            "ours",
            "theirs / ours",
            "nodes a move",
        ];
        let ratio = |theirs: Option<f64>, ours: Option<f64>| {
            theirs.zip(ours).map(|(theirs, ours)| theirs / ours)
        };
        let mut rows = table::plain(&header);
        for row in &self.moves {
            let numbers = [
                row.their_first_ms,
                row.first_ms,
                ratio(row.their_first_ms, row.first_ms),
                row.their_mean_ms,
                row.mean_ms,
                ratio(row.their_mean_ms, row.mean_ms),
                row.nodes_a_move,
            ];
            let cells = numbers.into_iter().map(cell);
            rows.add_row([row.name.to_string()].into_iter().chain(cells));
        }
        table::align_right(&mut rows, &(1..header.len()).collect::<Vec<_>>());
        table::write(out, &rows)
    }

    fn write_games(&self, out: &mut dyn Write) -> Result<()> {
        let mut rows = table::plain(&[
            "moving first",
            "against",
            "theirs",
            "ours",
            "mean",
            "won",
            "drawn",
            "lost",
        ]);
        for row in &self.games {
            rows.add_row([
                row.first.to_string(),
                row.second.to_string(),
                format!("{:+}", row.theirs),
                format!("{:+}", row.ours),
                format!("{:+.1}", row.mean),
                row.won.to_string(),
                row.drawn.to_string(),
                row.lost.to_string(),
            ]);
        }
        table::align_right(&mut rows, &[2, 3, 4, 5, 6, 7]);
        table::write(out, &rows)
    }
}

impl SurakartaGames {
    /// The number of games after first moves.
    fn count(&self) -> usize {
        self.won + self.drawn + self.lost
    }
}

/// Time and nodes of one move.
struct MoveCost {
    time: Duration,
    nodes: u64,
}

impl MoveCost {
    fn ms(&self) -> f64 {
        self.time.as_secs_f64() * 1e3
    }
}

fn mean(moves: &[MoveCost], of: impl Fn(&MoveCost) -> f64) -> f64 {
    moves.iter().map(of).sum::<f64>() / moves.len() as f64
}

/// The first moves of a game of the engine against itself.
fn moves(options: EngineOptions, depth: u8) -> Result<Vec<MoveCost>> {
    let mut engine = Engine::new(options)?;
    let mut position = Position::start(Variant::SURAKARTA);
    let mut moves = Vec::new();
    while moves.len() < MOVES {
        let (begun, mut nodes) = (Instant::now(), 0);
        let question = Question::new(position.clone(), Effort::depth(depth));
        let answer = engine.answer(&question, &Control::new(), &mut |progress| {
            nodes = progress.nodes
        })?;
        moves.push(MoveCost {
            time: begun.elapsed(),
            nodes,
        });
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
        let mut out = Vec::new();
        let measured = measure(EngineOptions::default(), 1).expect("figures");
        measured.write(&mut out).expect("room");
        let text = String::from_utf8(out).expect("text");
        for SurakartaSetting { name, .. } in SETTINGS {
            let row = text
                .lines()
                .find_map(|line| line.trim_start().strip_prefix(name))
                .expect("a row");
            assert_eq!(row.split_whitespace().count(), 7, "{text}");
        }
        for name in ["Evalue", "Value-2"] {
            let row = text
                .lines()
                .find(|line| line.trim_start().starts_with(name))
                .expect("a row");
            assert_eq!(row.split_whitespace().count(), 8, "{text}");
        }
    }
}
