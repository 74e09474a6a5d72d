//! Checks and conversions of messages.

mod convert;
mod limits;
mod name;
mod version;

pub use convert::WireError;
pub use limits::{EXAM, MOST_MOVES, MOST_NAME, MOST_ROOTS};
pub use name::{NameError, check_name};
pub use version::Versions;
