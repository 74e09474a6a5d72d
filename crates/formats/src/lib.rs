//! Books and games in the formats of other programs: reads their files, and writes a book as one.
//!
//! The crate refuses searching and changing books: an import returns positions with answers, and
//! its caller decides what to do with them. No bytes make it panic.
//!
//! ```
//! use kagetsu_formats::{Format, Importer};
//! use kagetsu_game::Variant;
//!
//! let mut importer = Importer::new(Format::Lines, Some(Variant::FREESTYLE_15));
//! importer.add(b"h8 i9 1-0\nh8 h9 0-1\n")?;
//! let contents = importer.finish();
//! assert_eq!(contents.items, 2);
//! # Ok::<(), anyhow::Error>(())
//! ```
#![forbid(unsafe_code)]

mod export;
mod format;
mod games;
mod gomoku;
mod import;
mod input;
mod lists;
mod native;
mod omissions;
pub mod openings;
mod table;
#[cfg(test)]
mod tests;
mod xiangqi;

pub use export::export;
pub use format::Format;
pub use games::text::{MoveNote, write_game};
pub use games::tree::{GameMove, GameTree};
pub use import::{BYTE_ORDER_MARK, Contents, Importer};
pub use input::detect::{detect, likely_variant};
pub use native::record::PositionRecord;
pub use omissions::{Omissions, write_omissions};
pub use table::{COLUMNS, Column, ColumnKind};
pub use xiangqi::zobrist::ZobristKeys;
