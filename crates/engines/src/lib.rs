//! Engines of other programs, as child processes that answer questions over UCI, UCCI or Gomocup's
//! protocol.
//!
//! ```no_run
//! use kagetsu_engines::{EngineSettings, External};
//! use kagetsu_game::{Effort, Position, Question, Variant};
//! use kagetsu_search::Control;
//!
//! let control = Control::new();
//! let settings = EngineSettings::new("uci:fairy-stockfish".parse()?);
//! let mut engine = External::start(settings, &control)?;
//! engine.check(Variant::XIANGQI, &control)?; // does it know the rules?
//! let question = Question::new(Position::start(Variant::XIANGQI), Effort::depth(8));
//! let answer = engine.answer(&question, &control, &mut |_| {})?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An engine is not trusted. It may crash, hang, flood its output, close its pipe or play an
//! illegal move. Each costs a restart and a [`Fault`] with the engine's name; none harms this
//! process or its memory. The engine's values are opinions. A mate that it claims becomes a value
//! near [`OPINION_MAX`](kagetsu_game::Score::OPINION_MAX), and a proof only where the rules or
//! Kagetsu's own threat search show it.
//!
//! The protocols' lines are read and written in both directions, so that an engine and its caller
//! share one implementation.
//!
//! What does this crate refuse? Async, network, the book, and trust in an engine about the rules.

mod address;
mod engine;
mod eval;
mod family;
mod fault;
pub mod gomocup;
mod process;
mod reported_lines;
mod search_series;
mod search_watch;
mod session;
pub mod uci;
mod verdicts;

pub use address::{EngineAddress, EngineSettings, OptionValue, Protocol};
pub use engine::External;
pub use fault::{Fault, FaultKind};
