//! Questions and how they become tasks.

mod shared_search;
mod split;
mod state;

pub(crate) use split::max_parts;
pub use split::{Split, divide, ranges};
pub(crate) use state::QuestionState;
