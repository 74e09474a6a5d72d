//! Reads what a request says: its caller, its parameters and its position.

mod caller;
pub(crate) mod position;
mod query;

pub use caller::Caller;
pub(crate) use query::{ApiPath, ApiQuery, NoParameters, check_length};
