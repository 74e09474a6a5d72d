//! Formats that carry everything that was searched: JSON lines and CSV.

pub(crate) mod record;
pub(crate) mod table;
