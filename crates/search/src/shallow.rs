use kagetsu_game::{Answer, Effort, Position, Question};

use crate::{Control, Engine, EngineError, EngineOptions};

/// Runs the 2-ply search that orders the root moves before they are split. Returns every candidate
/// with its exact value, the best first. The first move is the seed move.
///
/// # Errors
/// [`EngineError::Unsupported`].
pub fn shallow(position: &Position) -> Result<Answer, EngineError> {
    let options = EngineOptions {
        table_bytes: 0,
        leaf_fours: 0,
        selective: false,
        ..EngineOptions::default()
    };
    let question = Question {
        width: u16::MAX,
        ..Question::new(position.clone(), Effort::depth(2))
    };
    Engine::new(options)?.answer(&question, &Control::new(), &mut |_| {})
}
