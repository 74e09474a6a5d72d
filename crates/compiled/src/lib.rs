//! Compiled books: one immutable file of positions and their values, made for look-ups.
//!
//! [`Compiled`] reads a file, [`Compiler`] writes one, [`write_delta`] and [`apply_delta`] carry
//! the difference between two versions. The facts that a book states, [`Derived`], [`Choice`],
//! [`Stats`], [`Overview`], are those of a book's folder too. `FORMAT.md` describes the bytes.
//!
//! The crate refuses growing books, searching, and every other file of Kagetsu.

mod content;
mod error;
mod format;
mod read;
mod write;

pub use content::check_report::CheckReport;
pub use content::choice::Choice;
pub use content::derived::Derived;
pub use content::nearest::Nearest;
pub use content::overview::{Overview, RootOverview, VariantOverview};
pub use content::stats::Stats;
pub use error::CompiledError;
pub use format::encoding::{Compact, CompactMove};
pub use read::compiled::{Compiled, ENGINE};
pub use write::compiler::{CompileReport, Compiler};
pub use write::delta::{DeltaReport, apply_delta, write_delta};
pub use write::put::leave_others_alone;
