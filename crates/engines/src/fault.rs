use std::time::Duration;

use kagetsu_game::{Position, Variant, quote};

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
    /// The engine sent nothing within the time.
    #[error("sent nothing useful for {} s while it was to {}; --engine-patience gives it longer", .1.as_secs(), .0)]
    Silent(&'static str, Duration),
    /// The engine played a move outside of the restriction.
    #[error("played '{0}' in {1}, which was not among the moves asked about")]
    Disallowed(String, String),
    /// A fault that a restart cannot mend, as of a program that does not start.
    #[error("{0}")]
    Permanent(String),
    /// Any other fault, or none: the caller stopped the engine while it started.
    #[error("{0}")]
    Other(String),
}

impl FaultKind {
    pub(crate) fn illegal(played: &str, position: &Position) -> Self {
        let played = clip(played);
        Self::Other(format!(
            "played '{played}' in {position}, which is not legal there: does it play this variant \
             by these rules?"
        ))
    }

    pub(crate) fn unasked(played: &str, position: &Position) -> Self {
        Self::Disallowed(clip(played), position.to_string())
    }

    pub(crate) fn no_move(position: &Position) -> Self {
        Self::Other(format!("finds no move in {position}, where there is one"))
    }

    pub(crate) fn refuses(reason: &str) -> Self {
        Self::Other(format!("refuses: {}", clip(reason)))
    }

    pub(crate) fn unsupported(variant: Variant, reason: &str) -> Self {
        Self::Permanent(format!("does not play {variant}: {reason}"))
    }

    pub(crate) fn stopped() -> Self {
        Self::Other("was stopped while it was getting ready".into())
    }

    pub(crate) fn input_blocked() -> Self {
        Self::Other("does not read what it is sent".into())
    }
}

/// Returns the beginning of an engine's text, which may be long, without control characters.
pub(crate) fn clip(text: &str) -> String {
    quote(text).to_string()
}
