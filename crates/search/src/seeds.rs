//! The positions and measurements of the documents that Kagetsu grew from, to hold ours beside theirs.

use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, Position, PositionError, Question, Variant};

use crate::{Control, Engine, EngineError, EngineOptions};

/// The ten "fixed" positions are reached along this line: the engine is asked after each of its moves.
pub const LINE: [&str; 10] = ["h8", "f6", "i7", "g5", "j6", "g9", "j7", "h4", "e7", "g8"];

/// What one search took.
#[derive(Clone, Debug)]
pub struct Row {
    /// The position.
    pub position: Position,
    /// Positions visited.
    pub nodes: u64,
    /// Wall-clock time.
    pub time: Duration,
    /// What was found.
    pub answer: Answer,
}

/// The ten positions, on the 15x15 board of freestyle gomoku.
///
/// # Errors
/// Never: the line is legal.
pub fn positions() -> Result<Vec<Position>, PositionError> {
    (1..=LINE.len()).map(|plies| Position::from_line(Variant::FREESTYLE_15, &LINE[..plies].join(" "))).collect()
}

/// Searches each of the ten positions to a depth, with a fresh engine for each.
///
/// # Errors
/// If the options make no engine.
pub fn measure(options: EngineOptions, depth: u8) -> Result<Vec<Row>, EngineError> {
    let positions = positions().expect("the line is legal");
    let mut engine = Engine::new(options)?;
    let row = |position: Position| {
        let question = Question::new(position.clone(), Effort::depth(depth));
        let mut nodes = 0;
        let begun = Instant::now();
        let answer = engine.answer(&question, &Control::new(), &mut |progress| nodes = progress.nodes)?;
        Ok(Row { position, nodes: nodes.max(answer.nodes()), time: begun.elapsed(), answer })
    };
    positions.into_iter().map(row).collect()
}

/// The number of positions that one thread visits in the ten searches to depth 6: the same on every machine, and changed
/// only by a change of what is searched.
///
/// # Errors
/// If there is no memory for the engine.
pub fn signature() -> Result<u64, EngineError> {
    Ok(measure(EngineOptions { selective: false, ..EngineOptions::default() }, 6)?.iter().map(|row| row.nodes).sum())
}
