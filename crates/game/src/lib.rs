//! The vocabulary of Kagetsu: rules, moves, notation, symmetry, questions and answers.
//!
//! A [`Question`] about a [`Position`] gets an [`Answer`]: one [`Verdict`] for every move asked
//! about. Answers [merge](Answer::merge), and merging is a semilattice: idempotent, commutative,
//! associative, without loss of proofs. So a retried task, a late report and the merging of two
//! books are the same safe operation.
//!
//! This crate has no clock, no randomness, no threads, no files and no opinions. It knows the legal
//! moves; the search judges them.
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
pub mod gomoku;
mod info;
mod names;
mod notation;
mod position;
mod quote;
mod registry;
mod rules;
pub mod surakarta;
mod variant;
pub mod xiangqi;

pub use answer::{
    Answer, Bound, Claim, Effort, Proof, ProofKind, Provenance, Question, Score, Verdict, Window,
};
pub use info::{BoardShape, GameInfo, MoveKind};
pub use notation::{BoardError, FenError, Notation, NotationError};
pub use position::{Canonical, Key, KeyError, KnownAnswer, Position, PositionError};
pub use quote::{
    MAX_NAME_BYTES, Quote, is_printable_name, is_visible, quote, quote_line, quote_message,
};
pub use registry::VariantError;
pub use rules::{
    Game, Move, MoveError, Outcome, Packed, Side, Symmetry, UnpackError, divide, perft, zobrist,
};
pub use variant::{Chase, RuleName, Variant};
