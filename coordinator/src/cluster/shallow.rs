use kagetsu_game::{Answer, Position};
use kagetsu_search::{Engine, EngineError};

/// The 2-ply search by which a question is divided; nothing for a variant that only other people's engines play, whose
/// questions are never divided.
pub(crate) fn shallow(position: &Position) -> Result<Answer, EngineError> {
    if Engine::supports(position.variant()) {
        kagetsu_search::shallow(position)
    } else {
        Ok(Answer::new())
    }
}
