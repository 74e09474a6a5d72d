//! The weights and the vector code that the networks of all games share.

mod vectors;
pub(crate) mod weights;

pub(crate) use vectors::{product, vectorized};
