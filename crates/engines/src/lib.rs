//! Other people's engines, as child processes that answer questions by UCI, UCCI or Gomocup's protocol.
//!
//! ```no_run
//! use kagetsu_engines::{External, Settings};
//! use kagetsu_game::{Effort, Position, Question, Variant};
//! use kagetsu_search::Control;
//!
//! let control = Control::new();
//! let mut engine = External::start(Settings::new("uci:fairy-stockfish".parse()?), &control)?;
//! engine.check(Variant::XIANGQI, &control)?; // does it know the rules?
//! let question = Question::new(Position::start(Variant::XIANGQI), Effort::depth(8));
//! let answer = engine.answer(&question, &control, &mut |_| {})?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An engine is not trusted. It may crash, hang, flood its output, close its pipe or play what is not legal: that costs a
//! restart and a [`Fault`] that names it, never this process and never its memory. What it says is an opinion; a mate that
//! it claims becomes one near [`OPINION_MAX`](kagetsu_game::Score::OPINION_MAX), and a proof only where our own rules or
//! our own search of threats shows it.
//!
//! The words of the protocols are read and written in both directions, for who is an engine as well as for who drives one.
//!
//! What this crate refuses: async, network, the book, and any word of an engine about the rules.

mod address;
mod engine;
mod fault;
mod gathered;
pub mod gomocup;
mod inquiry;
mod process;
mod talk;
pub mod uci;
mod verdicts;
mod watch;

pub use address::{Address, AddressError, OptionValue, Protocol, Settings};
pub use engine::External;
pub use fault::{Fault, Wrong};
