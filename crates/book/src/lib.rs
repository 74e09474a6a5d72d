//! The opening book: journal, records, growth, propagation.
//!
//! A book is a folder. Its **journal** is the truth: an append-only file of checksummed entries,
//! one for each answer, job or change. Its **store** is an index that is made from the journal:
//! records, values and links, in the log-structured store of `kagetsu-store`. The positions that
//! wait to be searched are kept in memory and read from the links. A result may be acknowledged
//! when its journal entry is durable ([`JournalSync`]). The store follows, and is rebuilt from the
//! journal where it is damaged. `FORMAT.md` describes the bytes.
//!
//! [`Book::compile`] writes the values that a book believes into one immutable file, which any
//! number of processes read at once: a [`Compiled`](kagetsu_compiled::Compiled) book.
//!
//! The crate refuses networks, searching and async.

mod base;
mod book;
mod book_store;
mod compilation;
mod error;
mod folder_journal;
mod graph;
mod inspection;
mod jobs;
mod journal;
mod lock;
mod maintenance;
mod opening;
mod settings;

pub use base::id::Place;
pub use book::{Book, BookOptions, BookSnapshot, Entry};
pub use compilation::Compilation;
pub use error::spec_fault::{SpecFault, SpecFaults};
pub use error::{BookError, JobError, JournalError, LearnError, OpenError, without_password};
pub use folder_journal::FolderJournal;
pub use inspection::scan::{BookScan, ScannedChild, ScannedEntry, ScannedMove, StoredRecord};
pub use inspection::standing::{Standing, StandingState};
pub use inspection::suspects::{Doubt, Suspect};
pub use journal::frame::{MAX_ENTRY_BYTES, frame, unframe};
pub use journal::log::{Journal, JournalDigest, JournalSync, Sequence, Visit};
pub use kagetsu_compiled::{
    Annotation, AnnotationError, AnnotationJson, AnnotationKind, AnnotationKindError, CheckReport,
    Choice, Day, DayError, Derived, Extras, Nearest, Overview, RootOverview, Stats,
    VariantOverview,
};
pub use kagetsu_files::FileError;
pub use maintenance::backup::{BACKUP_MARK, BackupReport, backup};
pub use maintenance::compaction::CompactReport;
pub use maintenance::prune::{PruneReport, Pruning};
pub use maintenance::quality::{Grade, Grades, Grading, Hole};
pub use maintenance::repair::{RepairReport, repair};
pub use opening::Notice;
pub use settings::build_fields::{BUILD_FIELDS, BuildField, FieldKind, MAX_NODES, MAX_POSITIONS};
pub use settings::build_spec::{BuildSpec, Deepen};
pub use settings::field_description::describe_build;
pub use settings::job::{Aside, Job, JobChange, JobId, JobSpec, JobState, Work};
pub use settings::policies::growth_policy::PolicyInfo;
pub use settings::policies::{Policy, REGISTRY};
