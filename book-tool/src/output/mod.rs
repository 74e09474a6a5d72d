//! Live progress.

pub(crate) mod progress;
