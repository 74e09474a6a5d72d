use std::io;
use std::path::{Path, PathBuf};

use kagetsu_game::{Key, Position, PositionError};
use kagetsu_store::{StoreError, is_disk_full};

use crate::jobs::spec_fault::SpecFaults;

/// Why an operation on a book failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The path does not exist.
    #[error("{}", missing(.0))]
    Missing(PathBuf),
    /// The path is a URL, but a folder is needed.
    #[error(
        "{0} is a URL, and this needs the folder of a book; `kagetsu backup` copies the one of a coordinator while it works"
    )]
    Url(PathBuf),
    /// The folder is not empty and has no book.
    #[error("{0} is not a book: it has no journal; give an empty or a new folder to make one")]
    NotABook(PathBuf),
    /// The folder has a store or a manifest but no journal.
    #[error(
        "{0} has lost its journal, which holds all that was ever searched: bring it back with `kagetsu restore`"
    )]
    JournalLost(PathBuf),
    /// The path is a file, but a folder is needed.
    #[error(
        "{0} is a file, and this needs the folder of a book: a compiled book is only for looking up"
    )]
    File(PathBuf),
    /// The target of a backup is the book itself.
    #[error("{to} is the book {from} itself; a copy of it needs another folder")]
    Itself {
        /// The book.
        from: PathBuf,
        /// The same folder, perhaps under another name.
        to: PathBuf,
    },
    /// Another process has the book open.
    #[error(
        "the book {path} is open in process {holder}; stop that process, or `kagetsu backup --book {path} --to COPY` and \
         use the copy"
    )]
    Held {
        /// The folder.
        path: PathBuf,
        /// The id of that process, as far as it is known.
        holder: String,
    },
    /// A later program wrote the file.
    #[error(
        "{path} has format {found}, this program knows formats up to {known}; use a newer kagetsu"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: u32,
        /// The latest version that this program reads.
        known: u32,
    },
    /// The journal is damaged.
    #[error(
        "the journal {path} is damaged at byte {at}: {what}; restore the book from a backup, or \
         `kagetsu repair` what can be read of it; nothing was changed"
    )]
    Journal {
        /// The file.
        path: PathBuf,
        /// The offset of the damaged entry in bytes.
        at: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The target of a backup holds another book.
    #[error(
        "{to} holds another book than {from}, or has more than it; give an empty or a new folder"
    )]
    OtherBook {
        /// The book.
        from: PathBuf,
        /// The target.
        to: PathBuf,
    },
    /// The journal lacks entries that were durable.
    #[error(
        "the journal {path} ends after {found} entries, but {expected} were on disk: it was cut off; restore the book \
         from a backup, or `kagetsu repair` it; nothing was changed"
    )]
    JournalShort {
        /// The file.
        path: PathBuf,
        /// The entries that it has.
        found: u64,
        /// The entries that it had.
        expected: u64,
    },
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
    /// A record in the store is damaged.
    #[error(
        "the record of position {0} is damaged; open the book again, and it is rebuilt from the journal"
    )]
    Record(Key),
    /// Another part of the store is damaged.
    #[error("the store is damaged ({0}); open the book again, and it is rebuilt from the journal")]
    Store(&'static str),
    /// Two positions have the same key.
    #[error("two positions have the key {0}")]
    Collision(Key),
    /// An answer has an illegal move.
    #[error("{text} is not legal in {position}; nothing was learned")]
    Illegal {
        /// The position.
        position: Position,
        /// The move.
        text: String,
    },
    /// An answer has no move.
    #[error("an answer about {0} has no moves; nothing was learned")]
    Empty(Position),
    /// A write failed earlier, so that the book in memory may lack entries of its journal.
    #[error(
        "the book {0} could not be written before; open it again, nothing acknowledged is lost"
    )]
    Broken(PathBuf),
    /// The file is not a compiled book.
    #[error("{0} is not a compiled book; `kagetsu compile` makes one of a book's folder")]
    NotCompiled(PathBuf),
    /// The compiled book is damaged.
    #[error("the compiled book {path} is damaged: {what}; compile it again from its folder")]
    Compiled {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A file that is no compiled book has the name of the new one.
    #[error("{0} is there and is not a compiled book; give another name, or move it away")]
    Taken(PathBuf),
    /// A compiled book cannot hold so many positions.
    #[error("{0} are too many for one compiled book, whose positions take 4 GiB at most")]
    TooMany(u64),
    /// A position is impossible in its game.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// The book has neither the root nor a position after it.
    #[error(
        "the book does not hold the root {0}, nor what it leads to; nothing was removed; `kagetsu query` shows what it holds"
    )]
    NoRoot(Position),
    /// The book has no job of this name or number.
    #[error("the book has no job '{0}'; `kagetsu jobs list` shows those it has")]
    NoJob(String),
    /// The name is taken by a job with other settings.
    #[error(
        "the book has a job '{name}' that differs in {}; give another --name, or the same \
         settings, which `kagetsu jobs show {name}` prints", .differences.join(", ")
    )]
    JobDiffers {
        /// The job's name.
        name: String,
        /// The settings in which the two differ.
        differences: Vec<String>,
    },
    /// The name of a new job is taken.
    #[error("the book has a job '{0}' already; give another --name")]
    JobExists(String),
    /// The book has as many jobs as it can number.
    #[error("the book has no number left for another job")]
    TooManyJobs,
    /// A cancelled job cannot be resumed.
    #[error("the job '{0}' is cancelled, and that is for good; start another with another --name")]
    JobCancelled(String),
    /// The settings of a job are invalid.
    #[error("the build has wrong settings: {0}")]
    JobSpec(#[from] SpecFaults),
    /// The lock file cannot be opened for writing.
    #[error(
        "cannot lock {path}: {error}; whoever looks something up in the folder of a book must be able to write there: \
         `kagetsu compile` makes a file of a book that can only be read"
    )]
    NoLock {
        /// The lock file.
        path: PathBuf,
        /// The answer of the operating system.
        error: io::Error,
    },
    /// The operating system refused an operation.
    #[error("{what} {path}: {error}{}", way_out(error))]
    Io {
        /// The failed operation, for instance "cannot read".
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The answer of the operating system.
        error: io::Error,
    },
}

impl BookError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { what, path, error }
    }
}

impl From<StoreError> for BookError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Newer { path, found, known } => Self::Newer { path, found, known },
            StoreError::Io {
                action,
                path,
                error,
            } => Self::Io {
                what: action,
                path,
                error,
            },
            StoreError::Damaged(what) => Self::Store(what),
            _ => Self::Store("it cannot be read"),
        }
    }
}

/// Returns advice for an error that has a known remedy.
fn way_out(error: &io::Error) -> &'static str {
    if is_disk_full(error) {
        "; make room for it and do the same again: nothing that was acknowledged is lost"
    } else {
        ""
    }
}

/// Returns the message for a missing path; a name that ends with `.kbk` belongs to a compiled book.
fn missing(path: &Path) -> String {
    let shown = path.display();
    if path.extension().is_some_and(|end| end == "kbk") {
        return format!(
            "there is no compiled book at {shown}; `kagetsu compile --book DIR --out {shown}` makes one"
        );
    }
    format!("there is no book at {shown}; `kagetsu build --book {shown}` makes one")
}
