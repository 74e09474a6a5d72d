//! The tables of Li, Hu and Wang's paper on surakarta beside figures of ours.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Effort, Position, Question, Side, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};

use super::cell;
use kagetsu_terminal::table;

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

pub(crate) fn run(engine: EngineOptions, depth: u8, out: &mut dyn Write) -> Result<()> {
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
    let mut rows = table::plain(&header);
    for SurakartaSetting {
        name,
        options,
        theirs,
        deepest,
    } in &SETTINGS
    {
        let mut cells = vec![(*name).to_string()];
        let ours = (depth <= *deepest)
            .then(|| moves(format!("{engine},{options}").parse()?, depth))
            .transpose()?;
        let [first, each] = [
            |moves: &[MoveCost]| moves[0].ms(),
            |moves: &[MoveCost]| mean(moves, MoveCost::ms),
        ]
        .map(|of| ours.as_deref().map(of));
        for (ours, theirs) in [first, each]
            .into_iter()
            .zip([0, 1].map(|at| theirs.map(|theirs| theirs[at] * 1e3)))
        {
            cells.extend([
                cell(theirs),
                cell(ours),
                cell(theirs.zip(ours).map(|(theirs, ours)| theirs / ours)),
            ]);
        }
        cells.push(cell(
            ours.as_deref()
                .map(|moves| mean(moves, |moved| moved.nodes as f64)),
        ));
        rows.add_row(cells);
    }
    table::align_right(&mut rows, &(1..header.len()).collect::<Vec<_>>());
    table::write(out, &rows)?;
    out.flush()?;
    write_games(engine, depth, out)
}

/// Stones more at the end, from the start and after each first move: both evaluations move first.
fn write_games(engine: EngineOptions, depth: u8, out: &mut dyn Write) -> Result<()> {
    let [evalue, count] =
        ["evalue", "count"].map(|name| format!("{engine},constants={name}").parse());
    let (evalue, count): (EngineOptions, EngineOptions) = (evalue?, count?);
    let start = Position::start(Variant::SURAKARTA);
    let openings: Vec<Position> = start
        .distinct_moves()
        .into_iter()
        .map(|m| start.play(m))
        .collect::<Result<_, _>>()?;
    writeln!(
        out,
        "\nStones more than the opponent at the end (table 2); the mean is that of the games after each of the"
    )?;
    writeln!(
        out,
        "{} distinct first moves, and the points are of those games",
        openings.len()
    )?;
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
    for (names, players, theirs) in [
        (["Evalue", "Value-2"], [evalue, count], "+4"),
        (["Value-2", "Evalue"], [count, evalue], "-3"),
    ] {
        let own = stones(players, &start, depth)?;
        let all = openings
            .iter()
            .map(|opening| stones(players, opening, depth))
            .collect::<Result<Vec<_>>>()?;
        let sum: i32 = all.iter().sum();
        let times =
            |is: &dyn Fn(i32) -> bool| all.iter().filter(|&&stones| is(stones)).count().to_string();
        rows.add_row([
            names[0].to_string(),
            names[1].to_string(),
            theirs.to_string(),
            format!("{own:+}"),
            format!("{:+.1}", f64::from(sum) / all.len() as f64),
            times(&|stones| stones > 0),
            times(&|stones| stones == 0),
            times(&|stones| stones < 0),
        ]);
    }
    table::align_right(&mut rows, &[2, 3, 4, 5, 6, 7]);
    table::write(out, &rows)
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
        run(EngineOptions::default(), 1, &mut out).expect("figures");
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
