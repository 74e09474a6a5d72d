//! Collects positions that the evaluation has to judge, with the values that short searches find,
//! for the fit of the evaluation:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example leaves -- VARIANT GAMES NODES FILE
//! ```
//!
//! GAMES is a file of the example `selfplay`. From a few positions of each game the example takes
//! some leaves of a search, and values each by a search of NODES positions. It appends a line each
//! to FILE, as `learn` reads them: `-;moves;scores;variant`, where all moves but the last lead to
//! the leaf, and only the last has a score. VARIANT stands where a game does not name its own. All
//! cores work; the same games give the same leaves.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, tuning};
use rand::SeedableRng;
use rand::seq::IteratorRandom;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Positions of each game whose searches give leaves.
const ROOTS: usize = 3;
/// Positions of a search whose leaves are taken.
const SEARCH_NODES: u64 = 2_000;
/// One of this many leaves is taken.
const EVERY: usize = 40;
/// A position whose value is greater is decided and not searched for leaves, in centi-units.
const MAX_OPINION: i32 = 600;
/// The greatest value of a leaf, in centi-units.
const MAX_VALUE: i32 = 900;

/// Games whose leaves each core collects before the file grows.
const ROUND: usize = 16;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, nodes, file] = arguments.as_slice() else {
        return Err("leaves VARIANT GAMES NODES FILE".into());
    };
    let (variant, nodes): (Variant, u64) = (variant.parse()?, nodes.parse()?);
    let games = std::fs::read_to_string(games)?;
    let games: Vec<(usize, &str)> = games.lines().enumerate().collect();
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    for round in games.chunks(ROUND * rayon::current_num_threads()) {
        let lines = round
            .par_iter()
            .map(|&(number, game)| leaves(variant, nodes, number as u64, game));
        out.write_all(lines.collect::<Result<String, _>>()?.as_bytes())?;
    }
    Ok(())
}

/// Returns the lines of the leaves of a game, a line of the example `selfplay`.
fn leaves(variant: Variant, nodes: u64, number: u64, line: &str) -> Result<String, Failure> {
    let mut parts = line.split(';').skip(1);
    let (moves, scores) = parts.next().zip(parts.next()).ok_or(line)?;
    let variant = parts.next().map_or(Ok(variant), str::parse)?;
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 4 << 20,
        ..EngineOptions::default()
    })?;
    let mut dice = rand::rngs::SmallRng::seed_from_u64(number);
    let game = Position::from_line(variant, moves)?;
    let is_open = |score: &str| {
        score
            .parse::<i32>()
            .is_ok_and(|score| score.abs() < MAX_OPINION)
    };
    let open = scores.split(' ').enumerate();
    let open = open.filter(|(_, score)| is_open(score)).map(|(at, _)| at);
    let mut lines = String::new();
    for at in open.sample(&mut dice, ROOTS) {
        let root = game.moves()[..at]
            .iter()
            .try_fold(Position::start(variant), |position, &m| position.play(m))?;
        for leaf in tuning::leaves(&root, SEARCH_NODES, EVERY) {
            let question = Question::new(leaf.clone(), Effort::nodes(nodes));
            let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
            let Some((best, verdict)) = answer.best() else {
                continue;
            };
            let value = i32::from(verdict.score.raw()).clamp(-MAX_VALUE, MAX_VALUE);
            let moves: Vec<String> = leaf
                .moves()
                .iter()
                .chain([&best])
                .map(|&m| leaf.write_move(m))
                .collect();
            let unknown = "- ".repeat(leaf.moves().len());
            writeln!(lines, "-;{};{unknown}{value};{variant}", moves.join(" "))?;
        }
    }
    Ok(lines)
}
