//! What a stone makes of the lines through its cell, and what that is worth.

pub(super) mod fitted;
pub(super) mod kind;
pub(super) mod shape;
pub(super) mod weights;
