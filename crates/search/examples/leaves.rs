//! Collects positions that the evaluation has to judge, with the values that short searches find,
//! for the fit of the evaluation:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example leaves -- VARIANT GAMES_FILE FILE
//! ```
//!
//! GAMES_FILE is a file of the example `selfplay`. From a few positions of each game the example
//! takes some leaves of a search. It appends a line each to FILE, as `learn` reads them:
//! `-;moves;scores`, where all moves but the last lead to the leaf, and only the last has a score.

use std::fs::OpenOptions;
use std::io::Write;

use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, tuning};
use rand::SeedableRng;
use rand::seq::IteratorRandom;

/// Positions of each game whose searches give leaves.
const ROOTS: usize = 3;
/// Positions of a search whose leaves are taken.
const SEARCH_NODES: u64 = 2_000;
/// One of this many leaves is taken.
const EVERY: usize = 40;
/// Positions of a search that values a leaf.
const VALUE_NODES: u64 = 1_000;
/// A position whose value is greater is decided and not searched for leaves, in centi-units.
const MAX_OPINION: i32 = 600;
/// The greatest value of a leaf, in centi-units.
const MAX_VALUE: i32 = 900;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, file] = arguments.as_slice() else {
        return Err("leaves VARIANT GAMES_FILE FILE".into());
    };
    let variant: Variant = variant.parse()?;
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 4 << 20,
        ..EngineOptions::default()
    })?;
    let mut dice = rand::rngs::SmallRng::seed_from_u64(1);
    for line in std::fs::read_to_string(games)?.lines() {
        let [_, moves, scores] = line.split(';').collect::<Vec<_>>()[..] else {
            return Err(line.into());
        };
        let game = Position::from_line(variant, moves)?;
        let is_open = |score: &str| {
            score
                .parse::<i32>()
                .is_ok_and(|score| score.abs() < MAX_OPINION)
        };
        let open = scores.split(' ').enumerate();
        let open = open.filter(|(_, score)| is_open(score)).map(|(at, _)| at);
        for at in open.sample(&mut dice, ROOTS) {
            let root = game.moves()[..at]
                .iter()
                .try_fold(Position::start(variant), |position, &m| position.play(m))?;
            for leaf in tuning::leaves(&root, SEARCH_NODES, EVERY) {
                let question = Question::new(leaf.clone(), Effort::nodes(VALUE_NODES));
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
                writeln!(out, "-;{};{unknown}{value}", moves.join(" "))?;
            }
        }
    }
    Ok(())
}
