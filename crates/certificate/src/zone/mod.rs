//! Relevance zones: the points that matter to a way to win (Thomsen, "Lambda-search in game trees",
//! 2000; Wu and Lin, "Relevance-zone-oriented proof search for Connect6", 2010).
//!
//! The loser may *pass* in place of a reply. An answer that wins after a pass wins after most
//! replies, too. The win comes with conditions on the loser's stones: points that hold none of
//! them, points that hold one, and bounds for rows of five. `docs/development/zones.md` has the
//! rule and its proof.

mod checker;
mod known;
mod points;
mod rows;

pub(crate) use checker::Graph;
pub use checker::ZoneChecker;
pub use points::Zone;
