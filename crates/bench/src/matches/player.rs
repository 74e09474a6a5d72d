use anyhow::Result;
use kagetsu_engines::{EngineAddress, EngineSettings, External};
use kagetsu_game::{Answer, Effort, Question};
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

/// An engine of a match and its effort for each move.
#[derive(Clone, Debug)]
pub(crate) struct PlayerSettings {
    pub(crate) engine: PlayerEngine,
    pub(crate) effort: Effort,
}

/// Kagetsu's own search, or another program.
#[derive(Clone, Debug)]
pub(crate) enum PlayerEngine {
    Own(EngineOptions),
    External(EngineAddress),
}

/// A player of a match.
pub(crate) enum Player {
    Own(Box<Engine>),
    External(Box<External>),
}

impl Player {
    /// Starts an engine.
    ///
    /// # Errors
    /// If there are no threads or no memory for the search, or the other program does not start.
    pub(crate) fn start(engine: &PlayerEngine, control: &Control) -> Result<Self> {
        Ok(match engine {
            PlayerEngine::Own(options) => Self::Own(Box::new(Engine::new(*options)?)),
            PlayerEngine::External(address) => {
                let settings = EngineSettings::new(address.clone());
                Self::External(Box::new(External::start(settings, control)?))
            }
        })
    }

    /// Answers a question about one move.
    ///
    /// # Errors
    /// If the search does not support the variant, or the other program fails twice.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        Ok(match self {
            Self::Own(engine) => engine.answer(question, control, progress)?,
            Self::External(engine) => engine.answer(question, control, progress)?,
        })
    }
}
