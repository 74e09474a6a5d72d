//! The errors of a book, one type for each family of operations.

mod job;
mod journal;
mod learn;
mod open;
pub(crate) mod spec_fault;

use std::io;
use std::path::Path;

use kagetsu_compiled::CompiledError;
use kagetsu_files::FileError;
use kagetsu_game::{Key, PositionError};
use kagetsu_store::StoreError;

use self::spec_fault::SpecFaults;

pub use self::job::JobError;
pub use self::journal::JournalError;
pub use self::learn::LearnError;
pub(crate) use self::learn::MAX_TEXT_BYTES;
pub use self::open::{OpenError, without_password};

/// The reason why an operation on a book failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The book could not be opened or copied.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal could not be read or written.
    #[error(transparent)]
    Journal(JournalError),
    /// A record in the store is damaged.
    #[error(
        "the record of position {0} is damaged; open the book again, and it is rebuilt from the journal"
    )]
    Record(Key),
    /// Another part of the store is damaged.
    #[error("the store is damaged ({0}); open the book again, and it is rebuilt from the journal")]
    Entry(&'static str),
    /// A job could not be made or changed.
    #[error(transparent)]
    Job(#[from] JobError),
    /// An answer or a position was refused.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A compiled book could not be read or written.
    #[error(transparent)]
    Compiled(CompiledError),
    /// A position is impossible in its game.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl BookError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = FileError::io(what, path);
        move |error| file(error).into()
    }
}

impl From<CompiledError> for BookError {
    fn from(error: CompiledError) -> Self {
        match error {
            CompiledError::File(error) => Self::File(error),
            error => Self::Compiled(error),
        }
    }
}

impl From<JournalError> for BookError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::File(error) => Self::File(error),
            error => Self::Journal(error),
        }
    }
}

impl From<SpecFaults> for BookError {
    fn from(faults: SpecFaults) -> Self {
        JobError::Settings(faults).into()
    }
}

impl From<StoreError> for BookError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::File(error) => Self::File(error),
            StoreError::Damaged(what) => Self::Entry(what),
            _ => Self::Entry("it cannot be read"),
        }
    }
}
