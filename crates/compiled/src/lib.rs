//! Compiled books: one immutable file of positions and their values, made for look-ups.
//!
//! [`Compiled`] reads a file, [`Compiler`] writes one, [`write_delta`] and [`apply_delta`] carry
//! the difference between two versions. Without the feature `files` the crate reads books from
//! anything that implements [`ReadAt`], for instance bytes in a browser. The facts that a book
//! states, [`Derived`], [`Choice`], [`Stats`], [`Overview`], [`Annotation`], are those of a book's
//! folder too. `FORMAT.md` describes the bytes.
//!
//! The crate refuses growing books, searching, and every other file of Kagetsu.

#![cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "only files are written")
)]

mod content;
mod error;
mod format;
mod read;
#[cfg(feature = "files")]
mod write;

pub use content::annotation::{Annotation, AnnotationKind, AnnotationKindError, by_hand};
pub use content::annotation_json::{AnnotationError, AnnotationJson};
pub use content::behind::outweighs_search;
pub use content::check_report::CheckReport;
pub use content::choice::Choice;
pub use content::day::{Day, DayError};
pub use content::derived::Derived;
pub use content::extras::Extras;
pub use content::nearest::Nearest;
pub use content::overview::{Overview, RootOverview, VariantOverview};
pub use content::stats::Stats;
pub use error::CompiledError;
pub use format::encoding::{Compact, CompactMove};
#[cfg(feature = "files")]
pub use kagetsu_files::FileIdentity;
pub use read::compiled::{Compiled, ENGINE};
#[cfg(feature = "files")]
pub use read::named::NamedBook;
pub use read::source::ReadAt;
#[cfg(feature = "files")]
pub use write::compiler::{CompileReport, Compiler};
#[cfg(feature = "files")]
pub use write::delta::{DeltaReport, apply_delta, write_delta};
#[cfg(feature = "files")]
pub use write::put::leave_others_alone;
