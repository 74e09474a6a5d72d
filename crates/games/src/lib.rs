//! The games that were imported into a book: players, event, date, result, and the positions that
//! they passed.
//!
//! They lie in the file `games.sqlite` of the book's folder, beside the book itself, which holds
//! positions and values. Many processes may read them while one adds games.
//!
//! The crate refuses to read the formats of other programs, to search, and to change a book.
#![forbid(unsafe_code)]

mod found;
mod record;
#[cfg(feature = "store")]
mod store;

pub use found::{FoundGame, FoundGames, GameFilter, MoveScore};
pub use record::{GameRecord, GameResult, GameTags, after, read_move, without_history};
#[cfg(feature = "store")]
pub use store::{GameStore, GameStoreError, KeyedResults};
