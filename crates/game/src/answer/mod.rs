//! A question about a position, and the answer to it: a verdict for each move.

#[expect(clippy::module_inception)]
mod answer;
mod bound;
mod effort;
mod proof;
mod question;
mod score;
mod verdict;

pub use answer::Answer;
pub use bound::Bound;
pub use effort::Effort;
pub use proof::{Claim, Proof, ProofKind};
pub use question::{Question, Window};
pub use score::Score;
pub use verdict::{Provenance, Verdict};
