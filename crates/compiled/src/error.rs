use std::io;
use std::path::{Path, PathBuf};

use kagetsu_files::FileError;
use kagetsu_game::Key;

/// The reason why a compiled book could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompiledError {
    /// The file is not a compiled book.
    #[error("{0} is not a compiled book; `kagetsu compile` makes one of a book's folder")]
    NotCompiled(PathBuf),
    /// The compiled book is damaged.
    #[error("the compiled book {path} is damaged: {what}; compile it again from its folder")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// The file has other bytes than when it was opened.
    #[error(
        "the compiled book {0} changed while it was open; open it again, and replace a book by \
         renaming a new file rather than writing into it"
    )]
    Changed(PathBuf),
    /// The delta cannot be applied.
    #[error("the delta {path} cannot be used: {what}")]
    Delta {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// A file that is no compiled book has the name of the new one.
    #[error("{0} is there and is not a compiled book; give another name, or move it away")]
    Taken(PathBuf),
    /// A compiled book cannot hold so many positions.
    #[error("{0} are too many for one compiled book, whose positions take 4 GiB at most")]
    TooMany(u64),
    /// The file would be larger than was asked for.
    #[error(
        "{positions} positions with the parts beside them take {bytes} bytes; allow more bytes, or \
         leave out texts and games"
    )]
    TooLarge {
        /// Positions of the file.
        positions: u64,
        /// Bytes of the file.
        bytes: u64,
    },
    /// Two positions have the same key.
    #[error("two positions have the key {0}")]
    Collision(Key),
    /// An answer has a move or a score that no game has.
    #[error("the record of position {0} has a move or a score that no game has")]
    Impossible(Key),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl CompiledError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = FileError::io(what, path);
        move |error| file(error).into()
    }
}
