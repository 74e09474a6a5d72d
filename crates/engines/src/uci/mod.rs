//! The lines of UCI and of UCCI, its Chinese relative: two spellings of one protocol.
//!
//! Lines are read into values and values are written as lines, in both directions, so that an
//! engine and its caller share one implementation. Moves stay text here, because engines count
//! ranks differently.
//!
//! Sources: the UCI document of Huber and Meyer-Kahlen (2006), the UCCI 3.0 document of xqbase, and
//! the output of Fairy-Stockfish, Pikafish and ElephantEye.

mod from_engine;
mod session;
mod to_engine;

pub use from_engine::{FromEngine, Info, OptionKind, OptionLine, Value};
pub(crate) use session::Session;
pub use to_engine::{Clock, Go, ToEngine};

/// The spelling of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Universal Chess Interface.
    Uci,
    /// Universal Chinese Chess Interface.
    Ucci,
}
