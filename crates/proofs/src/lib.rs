//! Win trees, and the proofs of a book.
//!
//! A [`ProofTreeBuilder`] grows the win tree of a proven position: it reads the book's proofs, and
//! searches again the wins that the book knows only by their result. [`shrink`] makes trees
//! smaller, a [`ProofBook`] looks moves up in one, and a [`Ledger`] replays all claims of a book. A
//! [`ReplyProver`] finds replies that lose to the answer to another reply, without a search of
//! their own.
//!
//! The trees and their checker are those of `kagetsu-certificate`.
//!
//! The crate refuses changes of a book, and async.
#![forbid(unsafe_code)]

mod ledger;
mod line;
mod open_positions;
mod proof_book;
mod proof_cache;
mod reply_answers;
mod reply_prover;
mod shrink;
mod source;
mod tree_builder;

pub use ledger::{Count, FailedClaim, Findings, Ledger};
pub use line::{LineError, tree_of_line};
pub use proof_book::{ProofBook, ProvenMove};
pub use proof_cache::ProofCache;
pub use reply_prover::ReplyProver;
pub use shrink::{NodeCounts, ShrinkError, shrink};
pub use source::ProofSource;
pub use tree_builder::{GrownTree, ProofTreeBuilder, TreeSize, plant};
