use std::io;
use std::path::{Path, PathBuf};

use kagetsu_files::FileError;

/// The reason why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal is damaged.
    #[error(
        "the journal {path} is damaged at byte {at}: {what}; restore the book from a backup, or \
         `kagetsu repair` what can be read of it; nothing was changed"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset of the damaged entry in bytes.
        at: u64,
        /// The fault.
        what: &'static str,
    },
    /// The journal lacks entries that were durable.
    #[error(
        "the journal {path} ends after {found} entries, but {expected} were on disk: it was cut off; restore the book \
         from a backup, or `kagetsu repair` it; nothing was changed"
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// The entries that it has.
        found: u64,
        /// The entries that it had.
        expected: u64,
    },
    /// The folder has a store or a manifest but no journal.
    #[error(
        "{0} has lost its journal, which holds all that was ever searched: bring it back with `kagetsu restore`"
    )]
    Lost(PathBuf),
    /// The checksum of an entry matches, but this program cannot decode it.
    #[error(
        "entry {0} of the journal says nothing that this program understands; use a newer kagetsu"
    )]
    Unreadable(u64),
    /// An entry is longer than the journal allows.
    #[error(
        "an entry of {0} bytes is too long for the journal, which takes 16 MiB; give fewer roots at a time"
    )]
    TooLong(usize),
    /// A write failed earlier, so that the book in memory may lack entries of its journal.
    #[error(
        "the book {0} could not be written before; open it again, nothing acknowledged is lost"
    )]
    Broken(PathBuf),
    /// Another process leads the book and alone may append to its journal.
    #[error(
        "another coordinator leads the book {book}{}; send changes there",
        address.as_ref().map_or_else(String::new, |address| format!(" at {address}"))
    )]
    NotLeader {
        /// The book.
        book: String,
        /// The address of the leader, if it is known.
        address: Option<String>,
    },
    /// A snapshot of a book takes no changes.
    #[error("this is a snapshot of the book {0}, which takes no changes; change the book itself")]
    Snapshot(String),
    /// The journal has other entries than this process has read from it.
    #[error(
        "the journal {0} has other entries than this process has read: the database has lost \
         some; the book is read again"
    )]
    OtherHistory(String),
    /// The place of the journal has lost or changed entries that were acknowledged.
    #[error(
        "the journal {place} is not what was acknowledged: {fault}; restore the database from a \
         backup, or `kagetsu journal push` a copy under another name; no table was changed"
    )]
    Altered {
        /// The place.
        place: String,
        /// The difference.
        fault: String,
    },
    /// The server that keeps the journal refused or failed.
    #[error("{0}")]
    Server(String),
    /// A file of the journal could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl JournalError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = FileError::io(what, path);
        move |error| file(error).into()
    }
}
