//! Plays games against itself for the fit of the evaluation, and appends them to a file, a line
//! each:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example selfplay -- VARIANT GAMES NODES FILE [FIRST]
//! ```
//!
//! A line is `result;moves;scores`. The result is 1, 0 or 0.5 for the first side. Every move that
//! was searched has a score, in centi-units from the view of the side to move; a move of the random
//! opening has `-`. A second run continues where the file ends, up to GAMES games. Game n is the
//! same in every run; the first of the file is FIRST, or 0. All cores play.

use std::fs::OpenOptions;
use std::io::Write;

use kagetsu_game::gomoku::Point;
use kagetsu_game::{Effort, Outcome, Position, Question, Side, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};
use rand::{Rng, RngExt, SeedableRng};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Games longer than this are drawn.
const LONGEST: usize = 150;

/// Games that each core plays before the file grows.
const ROUND: usize = 16;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, nodes, file, first @ ..] = arguments.as_slice() else {
        return Err("selfplay VARIANT GAMES NODES FILE [FIRST]".into());
    };
    let (variant, games, nodes): (Variant, u64, u64) =
        (variant.parse()?, games.parse()?, nodes.parse()?);
    let first: u64 = first.first().map_or(Ok(0), |first| first.parse())?;
    let played = std::fs::read_to_string(file).map_or(0, |text| text.lines().count() as u64);
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    let numbers: Vec<u64> = (first + played..first + games).collect();
    for round in numbers.chunks(ROUND * rayon::current_num_threads()) {
        let lines = round.par_iter().map(|&number| game(variant, nodes, number));
        let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
        writeln!(out, "{}", lines.join("\n"))?;
    }
    Ok(())
}

fn game(variant: Variant, nodes: u64, number: u64) -> Result<String, Failure> {
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 4 << 20,
        ..EngineOptions::default()
    })?;
    let mut dice = rand::rngs::SmallRng::seed_from_u64(number);
    let mut position = opening(variant, &mut dice);
    let mut scores: Vec<String> = position.moves().iter().map(|_| "-".into()).collect();
    let result = loop {
        if let Some(outcome) = position.outcome() {
            break outcome;
        }
        if position.moves().len() >= LONGEST {
            break Outcome::Draw;
        }
        let effort = Effort {
            nodes: Some(nodes),
            ..Effort::default()
        };
        let question = Question {
            width: 2,
            ..Question::new(position.clone(), effort)
        };
        let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
        let (best, verdict) = answer.best().ok_or("no move")?;
        if verdict.score.win_plies().is_some() {
            break Outcome::Win(position.side());
        }
        if verdict.score.loss_plies().is_some() {
            break Outcome::Win(position.side().other());
        }
        // Now and then the second best, so that the games differ.
        let second = answer
            .verdicts()
            .get(1)
            .filter(|(_, v)| !v.score.is_mate() && dice.random_ratio(1, 12));
        let (m, score) = second.map_or((best, verdict.score), |(m, _)| (*m, verdict.score));
        position = position.play(m)?;
        scores.push(score.raw().to_string());
    };
    let result = match result {
        Outcome::Win(Side::First) => "1",
        Outcome::Win(Side::Second) => "0",
        Outcome::Draw => "0.5",
    };
    let moves: Vec<String> = position
        .moves()
        .iter()
        .map(|&m| position.write_move(m))
        .collect();
    Ok(format!("{result};{};{}", moves.join(" "), scores.join(" ")))
}

/// A few stones near a random place, more often than not the middle.
fn opening(variant: Variant, dice: &mut impl Rng) -> Position {
    let size = match variant {
        Variant::Gomoku { size, .. } => size,
        _ => 15,
    };
    let margin = dice
        .random_range(3..=size / 2 - 1)
        .max(dice.random_range(3..=size / 2 - 1));
    let middle = (
        dice.random_range(margin..size - margin),
        dice.random_range(margin..size - margin),
    );
    let mut position = Position::start(variant);
    for _ in 0..dice.random_range(2..=8) {
        let near = |at: u8, dice: &mut dyn Rng| {
            (at + dice.random_range(0..=6))
                .saturating_sub(3)
                .min(size - 1)
        };
        let (x, y) = (near(middle.0, dice), near(middle.1, dice));
        let m = Point { x, y }.as_move(size);
        if position.legal_moves().contains(&m) {
            position = position.play(m).expect("legal");
        }
    }
    position
}
