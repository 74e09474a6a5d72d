//! Reads what a request names: its query parameters and its position.

pub(crate) mod position;
mod query;

pub(crate) use query::Params;
