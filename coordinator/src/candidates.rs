use kagetsu_game::{Answer, Position};
use kagetsu_search::{Engine, EngineError};

/// Returns the 2-ply answer by which a question is divided; an empty one for a variant that our
/// own engine does not play, whose questions are never divided.
pub(crate) fn candidates(position: &Position) -> Result<Answer, EngineError> {
    if Engine::supports(position.variant()) {
        kagetsu_search::shallow(position)
    } else {
        Ok(Answer::new())
    }
}
