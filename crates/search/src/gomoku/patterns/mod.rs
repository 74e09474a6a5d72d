//! Line patterns through a cell, and their values.

pub(super) mod evaluation;
pub(super) mod fitted;
pub(super) mod kind;
pub(super) mod line;
pub(super) mod network;
pub(super) mod order;
pub(super) mod shape;
pub(super) mod weights;
