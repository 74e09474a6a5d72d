//! A position as an address, and its key.

mod key;
#[expect(clippy::module_inception)]
mod position;

pub use key::{Canonical, Key, KeyError};
pub use position::{Position, PositionError};
