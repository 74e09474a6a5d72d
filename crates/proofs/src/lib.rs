//! Win trees, and the proofs of a book.
//!
//! A [`ProofTreeBuilder`] grows the win tree of a proven position: it reads the book's proofs, and
//! searches again the wins that the book knows only by their result. [`shrink`] makes trees
//! smaller, a [`ProofBook`] looks moves up in one, and a [`Ledger`] replays all claims of a book.
//! [`check_claimed_win`] names what a tree of games lacks to be a proof. A [`ReplyProver`] finds
//! replies that lose to the answer to another reply, without a search of their own.
//!
//! The trees and their checker are those of `kagetsu-certificate`.
//!
//! The crate refuses changes of a book, and async.
#![forbid(unsafe_code)]

#[cfg(feature = "books")]
mod claimed_win;
#[cfg(feature = "books")]
mod ledger;
#[cfg(feature = "books")]
mod line;
#[cfg(feature = "books")]
mod nodes;
#[cfg(feature = "books")]
mod open_positions;
mod packed;
mod proof_book;
#[cfg(feature = "books")]
mod proof_cache;
#[cfg(feature = "books")]
mod reply_prover;
mod short_form;
#[cfg(feature = "books")]
mod shrink;
#[cfg(feature = "books")]
mod source;
#[cfg(feature = "books")]
mod tree_builder;

#[cfg(feature = "books")]
pub use claimed_win::{ClaimFindings, check_claimed_win};
#[cfg(feature = "books")]
pub use ledger::{Count, FailedClaim, Findings, Ledger};
#[cfg(feature = "books")]
pub use line::{LineError, tree_of_line};
#[cfg(feature = "books")]
pub use nodes::NodeCounts;
#[cfg(feature = "books")]
pub use packed::pack;
pub use packed::{begins_as_win_tree, unpacked};
pub use proof_book::ProofBook;
#[cfg(feature = "books")]
pub use proof_cache::ProofCache;
#[cfg(feature = "books")]
pub use reply_prover::ReplyProver;
#[cfg(feature = "books")]
pub use shrink::shrink;
#[cfg(feature = "books")]
pub use source::ProofSource;
#[cfg(feature = "books")]
pub use tree_builder::{GrownTree, ProofTreeBuilder, plant};
