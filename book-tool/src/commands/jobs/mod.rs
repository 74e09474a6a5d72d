//! Build jobs: `build` grows a book, `jobs` shows and steers the jobs of a book or a coordinator.

pub(crate) mod arguments;
mod execution;
pub(crate) mod grow;
pub(crate) mod manage;
mod proofs;
mod setting_arguments;
