//! The words of UCI and of UCCI, its Chinese relative: two spellings of one protocol.
//!
//! Lines are read into values and values are written as lines, in both directions, so that who drives an engine and who
//! is one use the same words. Moves stay text here: how its ranks are counted is a habit of each engine.
//!
//! Sources: the UCI document of Huber and Meyer-Kahlen (2006), the UCCI 3.0 document of xqbase, and what Fairy-Stockfish,
//! Pikafish and ElephantEye write.

mod from_engine;
mod session;
mod to_engine;

pub use from_engine::{FromEngine, Info, OptionKind, OptionLine, Value};
pub(crate) use session::Session;
pub use to_engine::{Clock, Go, ToEngine};

/// Which spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Universal Chess Interface.
    Uci,
    /// Universal Chinese Chess Interface.
    Ucci,
}
