//! Proofs of a book as win trees.
//!
//! A [`ProofTreeBuilder`] grows the win tree of a proven position: it reads the book's proofs, and
//! searches again the wins that the book knows only by their result. A [`ReplyProver`] finds
//! replies that lose to the answer to another reply, without a search of their own.
//!
//! The crate refuses changes of a book, and async.
#![forbid(unsafe_code)]

mod open_positions;
mod proof_cache;
mod reply_answers;
mod reply_prover;
mod source;
mod tree_builder;

pub use proof_cache::ProofCache;
pub use reply_prover::ReplyProver;
pub use source::ProofSource;
pub use tree_builder::{GrownTree, ProofTreeBuilder, TreeSize, plant};
