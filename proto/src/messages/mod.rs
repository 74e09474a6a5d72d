//! Checks and conversions of messages.

mod convert;
mod limits;
mod name;
mod version;

pub use convert::WireError;
pub use limits::{FIRST_CALIBRATION_TASK, MAX_MOVES, MAX_ROOTS};
pub use name::check_name;
pub use version::{ProtocolVersion, version_numbers};
