//! Relevance zones: the points that matter to a way to win (Thomsen, "Lambda-search in game trees",
//! 2000; Wu and Lin, "Relevance-zone-oriented proof search for Connect6", 2010).
//!
//! The loser may *pass* in place of a reply. A pass stands for a stone of the loser on any point
//! that does not matter. With stones of the loser on any such points, one for each pass, the same
//! answers win. So one walk through the answers after a pass stands for most replies.

mod board;
mod checker;
mod known;
mod points;
mod rows;

pub(crate) use checker::Graph;
pub use checker::ZoneChecker;
pub use points::Zone;
