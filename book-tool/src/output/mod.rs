//! Tables, colours, JSON and live progress.

pub(crate) mod colours;
pub(crate) mod json;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod terminal;
