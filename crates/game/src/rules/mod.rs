//! The trait of a game's rules, and the types that it uses.

mod game;
mod moves;
mod outcome;
mod packed;
mod perft;
mod side;
mod symmetry;
pub mod zobrist;

pub use game::{Game, MoveError};
pub use moves::Move;
pub use outcome::Outcome;
pub use packed::{Packed, UnpackError};
pub use perft::{divide, perft};
pub use side::Side;
pub use symmetry::Symmetry;
