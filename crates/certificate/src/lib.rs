//! Win trees, and a checker that uses the rules alone.
//!
//! A win tree proves a win: one move at each node of the winner, an answer to every legal move at
//! each node of the loser. [`check`] plays all of it on a board. It shares no code with the search.
//!
//! ```
//! use kagetsu_certificate::{Tree, check};
//!
//! // The first side has an open four: after any answer, one of its ends makes five.
//! let text = "kagetsu-proof 1
//! variant freestyle-15
//! position h8 a1 i8 a3 j8 a5 k8 a7
//! claim win 1
//! 1 g8
//! end 1
//! ";
//! let tree = Tree::read(&mut text.as_bytes())?;
//! let checked = check(&tree)?;
//! assert_eq!((checked.plies, checked.positions), (1, 1));
//! # Ok::<(), kagetsu_certificate::TreeFault>(())
//! ```
//!
//! This crate neither searches nor reads books, and depends on the rules alone.
#![forbid(unsafe_code)]

mod check;
mod dag;
mod fault;
mod read;
mod shortcuts;
mod tree;
mod zone;

pub use check::{CheckProgress, Checked, CheckedReplies, check, check_parallel};
pub use dag::ProofDag;
pub use fault::TreeFault;
pub use shortcuts::ReplyShortcuts;
pub use tree::{Node, Reference, Tree};
pub use zone::{Zone, ZoneChecker};
