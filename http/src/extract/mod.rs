//! Reads what a request says: its caller, its query parameters and its position.

mod caller;
pub(crate) mod position;
mod query;

pub(crate) use caller::Caller;
pub(crate) use query::{ApiQuery, NoParameters, check_length};
