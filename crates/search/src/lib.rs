//! Searches positions: alpha-beta with a shared table, searches for continuous threats, and
//! an evaluation for each game.
//!
//! ```
//! use kagetsu_game::{Effort, Position, Question, Variant};
//! use kagetsu_search::{Control, Engine, EngineOptions};
//!
//! let mut engine = Engine::new(EngineOptions::default())?;
//! let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 h9 a3 h10 a5")?;
//! let question = Question::new(position, Effort::depth(2));
//! let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
//! let (_, verdict) = answer.best().expect("the game is not over");
//! assert_eq!(verdict.score.win_plies(), Some(3)); // an open four, an answer, a five
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why every mate score is a proof
//! Four facts need no search. Let S be to move, O be the opponent, and neither side have five:
//! 1. S has a cell that makes five: S wins in 1.
//! 2. O has such cells. With two or more, S loses in 2. With one, every other move loses in 2, so
//!    that cell alone is a complete set of moves.
//! 3. Neither has one, and S has a cell that leaves two completion points: O fills one, S the
//!    other, and S wins in 3.
//! 4. None of these holds, and O has cells e that would leave two completion points. After a move
//!    of S that makes no four and stands neither on e nor on a completion point after e, O plays e
//!    and wins: S loses in 4. So the moves that meet every e, and all fours of S, are a complete
//!    set.
//!
//! Facts 3 and 4 hold because a stone completes a five by the stones of its own colour and the
//! empty cell alone, wherever the opponent's other stones are.
//!
//! In renju Black's e must also be allowed when Black plays it. A cell counts as leaving two
//! completion points only if it can never be forbidden: one straight four and at most one open
//! three. A white stone removes Black's shapes and never adds any, so the cell stays allowed.
//! Black's own replies and fours leave out forbidden points. If White's only completion point is
//! forbidden to Black, Black has lost as if there were two.
//!
//! A node is lost if its searched moves are complete and all lose. Where nothing forces, the search
//! selects candidates. If all of them lose and the opponent has a VCF after a pass, the search
//! tries the other moves that may meet it; the rest loses to it. Without such a VCF the node
//! returns the worst opinion, [`Score::OPINION_MAX`](kagetsu_game::Score::OPINION_MAX) negated,
//! which is no mate score.
//!
//! This crate refuses async, network, disk, and any knowledge of a book.
#![forbid(unsafe_code)]

mod alphabeta;
mod control;
mod engine;
mod error;
mod gomoku;
mod heuristics;
#[cfg(test)]
#[path = "../tests/internal/minimax.rs"]
mod minimax;
mod networks;
mod options;
mod root;
pub mod seeds;
#[cfg(test)]
#[path = "../tests/internal/small_boards.rs"]
mod small_boards;
mod surakarta;
pub mod threats;
pub mod tuning;
mod xiangqi;

pub use control::exchange::Note;
pub use control::{Control, Progress};
pub use engine::{Engine, shallow};
pub use error::EngineError;
pub use gomoku::Evaluation;
pub use networks::weights::{give_weights, missing_weights};
pub use options::constants::Constants;
pub use options::text::OptionsError;
pub use options::{EngineOptions, Neighbourhood, ThreadSplit};
pub use root::provenance::{provenance, provenance_of};
pub use surakarta::end_tables::{
    END_TABLE_PIECES, EndTablesError, build_end_tables, end_table_pieces, give_end_tables,
};
