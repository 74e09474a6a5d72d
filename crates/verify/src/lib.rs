//! Win trees, and the checker that knows only the rules.
//!
//! A win tree says how a game is won: at each node of the winner one move, at each node of the loser an answer to every
//! legal move. [`check`] plays all of it on a board, by the rules alone. It shares no code with what finds wins.
//!
//! ```
//! use kagetsu_verify::{Tree, check};
//!
//! // The first side has an open four: whatever is answered, one of its ends makes five.
//! let text = "kagetsu-proof 1
//! variant freestyle-15
//! position h8 a1 i8 a3 j8 a5 k8 a7
//! claim win 1
//! 1 g8
//! end 1
//! ";
//! let tree = Tree::read(&mut text.as_bytes())?;
//! let checked = check(&tree, &mut |_| {})?;
//! assert_eq!((checked.plies, checked.positions), (1, 1));
//! # Ok::<(), kagetsu_verify::Fault>(())
//! ```
//!
//! What this crate refuses: searching, books, opinions.
#![forbid(unsafe_code)]

mod check;
mod fault;
mod gap;
mod grove;
mod line;
mod quick;
mod read;
mod tree;

pub use check::{Checked, check};
pub use fault::Fault;
pub use gap::Gap;
pub use grove::Grove;
pub use quick::Quick;
pub use tree::{Node, Reference, Tree};
