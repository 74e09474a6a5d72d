use std::time::Duration;

use kagetsu_game::{MoveError, Position, Variant, quote};

/// A fault of an engine, with the engine's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine {engine} {wrong}")]
pub struct Fault {
    /// The engine's name, or its command while the name is unknown.
    pub engine: String,
    /// The fault.
    pub wrong: FaultKind,
}

/// Kinds of faults of an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The program does not start.
    #[error(
        "cannot be started: {0}; give the path of a program that can be run, as in --engine uci:/usr/games/NAME"
    )]
    Start(String),
    /// The process has ended or has closed its pipe.
    #[error("has ended: {0}")]
    Ended(String),
    /// The engine sent nothing within the time.
    #[error("sent nothing useful for {} s while it was to {}; --engine-patience gives it longer", .1.as_secs(), .0)]
    Silent(&'static str, Duration),
    /// A line is longer than this many bytes.
    #[error("wrote a line of more than {0} bytes")]
    Flood(usize),
    /// The engine does not read its input.
    #[error("does not read what it is sent")]
    InputBlocked,
    /// The engine played an illegal move.
    #[error(
        "played '{0}' in {1}, which is not legal there: does it play this variant by these rules?"
    )]
    Illegal(String, String),
    /// The engine played a move outside of the restriction.
    #[error("played '{0}' in {1}, which was not among the moves asked about")]
    Disallowed(String, String),
    /// The engine missed the only good move of a position with a known answer.
    #[error("played '{played}' in {position}, where only {known} will do: does it play {variant}?")]
    WrongAnswer {
        /// The move as the engine wrote it.
        played: String,
        /// The position.
        position: String,
        /// The known answer.
        known: String,
        /// The variant whose rules apply.
        variant: Variant,
    },
    /// The engine found no move in a position that has one.
    #[error("finds no move in {0}, where there is one")]
    NoMove(String),
    /// The engine gave a move without a value.
    #[error("says no value of '{0}'")]
    NoValue(String),
    /// The engine does not have this option.
    #[error("has no option '{0}'; it has {1}")]
    Option(String, String),
    /// The engine reports that it cannot.
    #[error("refuses: {0}")]
    Refuses(String),
    /// The protocol or the engine does not support the variant.
    #[error("does not play {0}: {1}")]
    Unsupported(Variant, &'static str),
    /// The caller stopped the engine while it started. This is no fault of the engine.
    #[error("was stopped while it was getting ready")]
    Stopped,
    /// The question contains an illegal move.
    #[error("was asked about a move that cannot be made: {0}")]
    Question(MoveError),
}

impl FaultKind {
    pub(crate) fn illegal(played: &str, position: &Position) -> Self {
        Self::Illegal(clip(played), position.to_string())
    }

    pub(crate) fn unasked(played: &str, position: &Position) -> Self {
        Self::Disallowed(clip(played), position.to_string())
    }

    /// Whether a restart cannot help.
    #[must_use]
    pub const fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::Start(_) | Self::Option(..) | Self::Unsupported(..) | Self::Question(_)
        )
    }
}

/// Returns the beginning of an engine's text, which may be long, without control characters.
pub(crate) fn clip(text: &str) -> String {
    quote(text).to_string()
}
