//! The vocabulary of Kagetsu: rules, moves, notation, symmetry, and the words that travel between its parts.
//!
//! A [`Question`] about a [`Position`] gets an [`Answer`]: one [`Verdict`] for every move asked about. Answers
//! [merge](Answer::merge), and merging is a semilattice: idempotent, commutative, associative, and no proof is ever lost
//! by it. That is what makes a retried task, a late report and the merging of two books the same safe operation.
//!
//! What this crate refuses: clocks, dice, threads, files, and opinions. It knows what is legal; what is good is the
//! search's business.
//!
//! ```
//! use kagetsu_game::{Position, Variant};
//!
//! let variant: Variant = "freestyle-15".parse()?;
//! let one = Position::from_line(variant, "h8 i9 h9")?;
//! let two = Position::from_line(variant, "h9i9h8")?;
//! assert_eq!(one.key(), two.key()); // a transposition is the same position
//! # Ok::<(), kagetsu_game::PositionError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod answer;
mod bound;
mod effort;
mod fen;
mod game;
pub mod gomoku;
mod key;
mod line;
mod moves;
mod outcome;
mod packed;
mod perft;
mod position;
mod proof;
mod question;
mod score;
mod side;
pub mod surakarta;
mod symmetry;
mod variant;
mod verdict;
pub mod xiangqi;
pub mod zobrist;

pub use answer::Answer;
pub use bound::Bound;
pub use effort::Effort;
pub use fen::FenError;
pub use game::{Game, MoveError};
pub use key::{Canonical, Key, KeyError};
pub use moves::Move;
pub use outcome::Outcome;
pub use packed::{Packed, UnpackError};
pub use perft::{divide, perft};
pub use position::{Position, PositionError};
pub use proof::{Claim, Proof, ProofKind};
pub use question::{Question, Window};
pub use score::Score;
pub use side::Side;
pub use symmetry::Symmetry;
pub use variant::{Chase, RuleName, Variant, VariantError};
pub use verdict::{Provenance, Verdict};
