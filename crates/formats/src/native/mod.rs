//! Everything that was searched, as JSON lines.

pub(crate) mod record;
