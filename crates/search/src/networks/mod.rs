//! What the networks of the games have in common.

mod vectors;
pub(crate) mod weights;

pub(crate) use vectors::vectorized;
