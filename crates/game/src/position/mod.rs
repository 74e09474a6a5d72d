//! A position as an address, and its key.

mod key;
mod known_answer;
#[expect(clippy::module_inception)]
mod position;

pub use key::{Canonical, Key, KeyError};
pub use known_answer::KnownAnswer;
pub use position::{Position, PositionError};
