//! Positions and measurements of the documents that Kagetsu grew from, for comparison.

use std::time::{Duration, Instant};

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Answer, Effort, Position, PositionError, Question, Variant, with_rule};

use crate::gomoku::Board;
use crate::heuristics::{Heuristics, Situation};
use crate::{Control, Engine, EngineError, EngineOptions};

/// The line of the ten fixed positions: one position after each move.
pub const LINE: [&str; 10] = ["h8", "f6", "i7", "g5", "j6", "g9", "j7", "h4", "e7", "g8"];

/// Candidate moves of a position in the example of the patent.
pub const CANDIDATES: usize = 20;

/// The measurement of one search.
#[derive(Clone, Debug)]
pub struct SeedRow {
    /// The searched position.
    pub position: Position,
    /// Positions visited.
    pub nodes: u64,
    /// Wall-clock time.
    pub time: Duration,
    /// The answer of the search.
    pub answer: Answer,
}

/// Returns the ten positions, on the 15x15 board of freestyle gomoku.
///
/// # Errors
/// Never, since the line is legal.
pub fn positions() -> Result<Vec<Position>, PositionError> {
    (1..=LINE.len())
        .map(|plies| Position::from_line(Variant::FREESTYLE_15, &LINE[..plies].join(" ")))
        .collect()
}

/// Searches each of the ten positions to a depth, with an empty table for each.
///
/// # Errors
/// The errors of [`Engine::new`].
pub fn measure(options: EngineOptions, depth: u8) -> Result<Vec<SeedRow>, EngineError> {
    let positions = positions().expect("the line is legal");
    let mut engine = Engine::new(options)?;
    let row = |position: Position| {
        let question = Question::new(position.clone(), Effort::depth(depth));
        let mut nodes = 0;
        let begun = Instant::now();
        let answer = engine.answer(&question, &Control::new(), &mut |progress| {
            nodes = progress.nodes
        })?;
        Ok(SeedRow {
            position,
            nodes: nodes.max(answer.nodes()),
            time: begun.elapsed(),
            answer,
        })
    };
    positions.into_iter().map(row).collect()
}

/// Returns the number of positions that one thread visits in the ten searches to depth 6, without
/// selection and with [`CANDIDATES`] moves in each position. It is the same on every machine and
/// changes only with the search.
///
/// # Errors
/// [`EngineError::Table`] if there is no memory for the engine.
pub fn signature() -> Result<u64, EngineError> {
    Ok(measure(
        EngineOptions {
            selective: false,
            candidates: CANDIDATES,
            ..EngineOptions::default()
        },
        6,
    )?
    .iter()
    .map(|row| row.nodes)
    .sum())
}

/// Returns the mean time of one move and its undo, with all incremental state: each candidate of
/// the position in turn, `rounds` times.
///
/// # Errors
/// [`EngineError::Unsupported`] for games other than gomoku.
pub fn play_and_undo(position: &Position, rounds: u32) -> Result<Duration, EngineError> {
    match position.variant() {
        Variant::Gomoku { rule, .. } => Ok(with_rule!(rule, R => pairs::<R>(position, rounds))),
        other => Err(EngineError::Unsupported(other)),
    }
}

fn pairs<R: Rule>(position: &Position, rounds: u32) -> Duration {
    let mut board = Board::<R>::new(&position.game(), &EngineOptions::default());
    let moves = board.moves(&Situation::Free).sorted();
    let begun = Instant::now();
    for _ in 0..rounds {
        for &m in &moves {
            board.play(m);
            std::hint::black_box(&mut board);
            board.undo();
        }
    }
    begun.elapsed() / (rounds * moves.len() as u32).max(1)
}
