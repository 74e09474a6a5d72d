use std::io;
use std::path::{Path, PathBuf};

use kagetsu_game::{Key, Position, PositionError};
use kagetsu_store::{StoreError, is_disk_full};

use crate::jobs::build_spec::SpecFaults;

/// What stands between a caller and a book.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// There is nothing at this path.
    #[error("{}", missing(.0))]
    Missing(PathBuf),
    /// A URL where a folder must be.
    #[error(
        "{0} is a URL, and this needs the folder of a book; `kagetsu backup` copies the one of a coordinator while it works"
    )]
    Url(PathBuf),
    /// The folder holds something else.
    #[error("{0} is not a book: it has no journal; give an empty or a new folder to make one")]
    NotABook(PathBuf),
    /// A book without what it is made of.
    #[error(
        "{0} has lost its journal, which holds all that was ever searched: bring it back with `kagetsu restore`"
    )]
    JournalLost(PathBuf),
    /// A file stands where the folder of a book should.
    #[error(
        "{0} is a file, and this needs the folder of a book: a compiled book is only for looking up"
    )]
    File(PathBuf),
    /// A copy of a book would go where the book is.
    #[error("{to} is the book {from} itself; a copy of it needs another folder")]
    Itself {
        /// Which book.
        from: PathBuf,
        /// The same folder, perhaps by another name.
        to: PathBuf,
    },
    /// Another process has it open.
    #[error(
        "the book {path} is open in process {holder}; stop that process, or `kagetsu backup --book {path} --to COPY` and \
         use the copy"
    )]
    Held {
        /// The folder.
        path: PathBuf,
        /// Its process id, or what could be found out of it.
        holder: String,
    },
    /// Written by a later program.
    #[error(
        "{path} has format {found}, this program knows formats up to {known}; use a newer kagetsu"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The journal has bytes that nobody wrote.
    #[error(
        "the journal {path} is damaged at byte {at}: {what}; restore the book from a backup, or \
         `kagetsu repair` what can be read of it; nothing was changed"
    )]
    Journal {
        /// The file.
        path: PathBuf,
        /// Where the damaged entry begins.
        at: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A backup of one book would go over another.
    #[error(
        "{to} holds another book than {from}, or has more than it; give an empty or a new folder"
    )]
    OtherBook {
        /// Which book.
        from: PathBuf,
        /// Where it should go.
        to: PathBuf,
    },
    /// The journal lacks entries that were on disk.
    #[error(
        "the journal {path} ends after {found} entries, but {expected} were on disk: it was cut off; restore the book \
         from a backup, or `kagetsu repair` it; nothing was changed"
    )]
    JournalShort {
        /// The file.
        path: PathBuf,
        /// How many it has.
        found: u64,
        /// How many it had.
        expected: u64,
    },
    /// An entry of the journal is whole, but nothing that this program knows.
    #[error(
        "entry {0} of the journal says nothing that this program understands; use a newer kagetsu"
    )]
    Unreadable(u64),
    /// An entry for the journal that is longer than any may be.
    #[error(
        "an entry of {0} bytes is too long for the journal, which takes 16 MiB; give fewer roots at a time"
    )]
    TooLong(usize),
    /// A record has bytes that nobody wrote.
    #[error(
        "the record of position {0} is damaged; open the book again, and it is rebuilt from the journal"
    )]
    Record(Key),
    /// Something else in the store has.
    #[error("the store is damaged ({0}); open the book again, and it is rebuilt from the journal")]
    Store(&'static str),
    /// Two positions have one name.
    #[error("two positions have the key {0}")]
    Collision(Key),
    /// An answer speaks of a move that cannot be made.
    #[error("{text} is not legal in {position}; nothing was learned")]
    Illegal {
        /// Where.
        position: Position,
        /// The move.
        text: String,
    },
    /// An answer without any move.
    #[error("an answer about {0} has no moves; nothing was learned")]
    Empty(Position),
    /// The book could not be written once; what it holds in memory may be less than its journal.
    #[error(
        "the book {0} could not be written before; open it again, nothing acknowledged is lost"
    )]
    Broken(PathBuf),
    /// A file that should be a compiled book.
    #[error("{0} is not a compiled book; `kagetsu compile` makes one of a book's folder")]
    NotCompiled(PathBuf),
    /// A compiled book has bytes that nobody wrote.
    #[error("the compiled book {path} is damaged: {what}; compile it again from its folder")]
    Compiled {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A compiled book would take the place of something else.
    #[error("{0} is there and is not a compiled book; give another name, or move it away")]
    Taken(PathBuf),
    /// More than a compiled book may hold.
    #[error("{0} are too many for one compiled book, whose positions take 4 GiB at most")]
    TooMany(u64),
    /// A position in it cannot be.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// A root that nothing of the book follows from.
    #[error(
        "the book does not hold the root {0}, nor what it leads to; nothing was removed; `kagetsu query` shows what it holds"
    )]
    NoRoot(Position),
    /// No job of that name or number.
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
    /// What was given up does not go on.
    #[error("the job '{0}' is cancelled, and that is for good; start another with another --name")]
    JobCancelled(String),
    /// A job with settings that cannot be.
    #[error("the build has wrong settings: {0}")]
    JobSpec(#[from] SpecFaults),
    /// A folder that this process must not write into.
    #[error(
        "cannot lock {path}: {error}; whoever looks something up in the folder of a book must be able to write there: \
         `kagetsu compile` makes a file of a book that can only be read"
    )]
    NoLock {
        /// The file that is locked.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The disk says no.
    #[error("{what} {path}: {error}{}", way_out(error))]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What came of it.
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

/// What to do about an error, where that is known.
fn way_out(error: &io::Error) -> &'static str {
    if is_disk_full(error) {
        "; make room for it and do the same again: nothing that was acknowledged is lost"
    } else {
        ""
    }
}

/// A compiled book is made of another one, and known by its name where there is none.
fn missing(path: &Path) -> String {
    let shown = path.display();
    if path.extension().is_some_and(|end| end == "kbk") {
        return format!(
            "there is no compiled book at {shown}; `kagetsu compile --book DIR --out {shown}` makes one"
        );
    }
    format!("there is no book at {shown}; `kagetsu build --book {shown}` makes one")
}
