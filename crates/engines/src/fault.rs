use std::time::Duration;

use kagetsu_game::{MoveError, Position, Variant};

/// What an engine did wrong, and which.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine {engine} {wrong}")]
pub struct Fault {
    /// Its name, or its command before it has said one.
    pub engine: String,
    /// What it did.
    pub wrong: Wrong,
}

/// What an engine can do wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// The program does not start.
    #[error(
        "cannot be started: {0}; give the path of a program that can be run, as in --engine uci:/usr/games/NAME"
    )]
    Start(String),
    /// The process is gone, or has closed its pipe.
    #[error("has ended: {0}")]
    Ended(String),
    /// It should have said something long ago.
    #[error("said nothing of use for {} s while it was to {doing}; --engine-patience gives it longer", .time.as_secs())]
    Silent {
        /// What it was asked.
        doing: &'static str,
        /// How long it was given.
        time: Duration,
    },
    /// A line without an end.
    #[error("wrote a line of more than {0} bytes")]
    Flood(usize),
    /// It does not read what it is sent.
    #[error("does not read what it is sent")]
    Deaf,
    /// A move that cannot be.
    #[error(
        "played '{said}' in {position}, which is not legal there: does it play this variant by these rules?"
    )]
    Illegal {
        /// As it wrote it.
        said: String,
        /// Where.
        position: String,
    },
    /// It chose among other moves than it was told to.
    #[error("played '{said}' in {position}, which was not among the moves asked about")]
    Unasked {
        /// As it wrote it.
        said: String,
        /// Where.
        position: String,
    },
    /// A position whose best move is known.
    #[error("played '{said}' in {position}, where only {known} will do: does it play {variant}?")]
    Unknowing {
        /// As it wrote it.
        said: String,
        /// Where.
        position: String,
        /// What it had to play.
        known: String,
        /// By which rules.
        variant: Variant,
    },
    /// It found no move where there is one.
    #[error("finds no move in {0}, where there is one")]
    NoMove(String),
    /// It found a move and said no value.
    #[error("says no value of '{0}'")]
    NoValue(String),
    /// An option that it does not have.
    #[error("has no option '{name}'; it has {known}")]
    Option {
        /// As it was asked for.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// It says itself that it cannot.
    #[error("refuses: {0}")]
    Refuses(String),
    /// The protocol or the engine has no word for the variant.
    #[error("does not play {variant}: {reason}")]
    Unsupported {
        /// What it was to play.
        variant: Variant,
        /// Why not.
        reason: &'static str,
    },
    /// Nothing: somebody stopped it while it was getting ready.
    #[error("was stopped while it was getting ready")]
    Stopped,
    /// A question about a move that cannot be made.
    #[error("was asked about a move that cannot be made: {0}")]
    Question(MoveError),
}

impl Wrong {
    pub(crate) fn illegal(said: &str, position: &Position) -> Self {
        Self::Illegal {
            said: clip(said),
            position: position.to_string(),
        }
    }

    pub(crate) fn unasked(said: &str, position: &Position) -> Self {
        Self::Unasked {
            said: clip(said),
            position: position.to_string(),
        }
    }

    /// Whether the same will happen again, however often it is started.
    #[must_use]
    pub const fn is_for_good(&self) -> bool {
        matches!(
            self,
            Self::Start(_) | Self::Option { .. } | Self::Unsupported { .. } | Self::Question(_)
        )
    }
}

/// The beginning of what an engine said: it may be long.
pub(crate) fn clip(said: &str) -> String {
    const MOST: usize = 200;
    said.chars().take(MOST).collect()
}
