//! The build jobs of a book: their course, and which position each searches next.

pub(crate) mod current;
pub(crate) mod frontier;
pub(crate) mod lifecycle;
pub(crate) mod look_back;
pub(crate) mod questions;
pub(crate) mod winning_moves;
pub(crate) mod work_queue;
