use std::path::Path;

use anyhow::{Result, anyhow, bail};
use kagetsu_book::{Book, BookError, BookOptions, OpenError, Sequence};
use kagetsu_postgres::BookUrl;

use crate::database;
use crate::notices::write_notices;

/// Adds to an error about a book folder how to ask the process that holds it (`how`).
pub fn with_hint(error: anyhow::Error, how: &str) -> anyhow::Error {
    match error.downcast_ref() {
        Some(BookError::Open(OpenError::Held { path, holder })) => {
            let path = path.display();
            anyhow!(
                "the book {path} is open in process {holder}; ask that process ({how}), or stop it"
            )
        }
        Some(BookError::Open(OpenError::Url(url))) => {
            anyhow!(
                "--book {url} is a URL, and this needs a folder; give --coordinator {url} in its place"
            )
        }
        _ => error,
    }
}

/// The hint for commands with a flag `--coordinator`.
pub const COORDINATOR_FLAG: &str = "its URL as --coordinator in place of --book";

/// Opens a book folder to change it, and prints its notices on stderr.
///
/// # Errors
/// If it cannot be opened, or the book is in a database.
pub fn open_book(path: &Path, create: bool) -> Result<Book> {
    if let Some(text) = path.to_str().filter(|text| BookUrl::is_one(text)) {
        bail!(in_database(&BookUrl::parse(text)?));
    }
    let (book, notices) = Book::open(
        path,
        &BookOptions {
            create,
            ..BookOptions::default()
        },
    )?;
    write_notices(path.display(), &notices)?;
    Ok(book)
}

/// Returns the message for a book in a database that a command would change.
#[must_use]
pub fn in_database(url: &BookUrl) -> String {
    format!(
        "{url} is a book in a database, which only its coordinator changes: give the coordinator's \
         URL as --coordinator, or change a folder; `kagetsu journal pull` copies the book into a \
         folder, and `kagetsu journal push` copies it into a database"
    )
}

/// Opens a book folder or a book in a database to read all of it, and prints its notices on stderr.
/// Several processes may read one folder at the same time.
///
/// # Errors
/// If there is no book, or a process is changing its folder.
pub fn read_book(path: &Path) -> Result<Book> {
    if let Some(text) = path.to_str().filter(|text| BookUrl::is_one(text)) {
        return database::open(text);
    }
    let (book, notices) = Book::open_to_read(path, &BookOptions::default())?;
    write_notices(path.display(), &notices)?;
    Ok(book)
}

/// The folder of a book that may have to be created.
pub struct BookFolder<'a> {
    path: &'a Path,
    /// Whether the folder existed, and whether it held a book.
    was_there: (bool, bool),
}

impl<'a> BookFolder<'a> {
    /// Notes the state of the folder before a command.
    pub fn at(path: &'a Path) -> Self {
        Self {
            path,
            was_there: (path.exists(), path.join("journal").exists()),
        }
    }

    /// Removes a book that the command created and left empty. The book must be closed.
    pub fn tidy(&self) {
        let (had_folder, had_book) = self.was_there;
        if had_book {
            return;
        }
        // An empty book does no harm, and the error that came before is the one to report.
        let Ok((book, _)) = Book::open(self.path, &BookOptions::default()) else {
            return;
        };
        if book.sequence() == Sequence(0) && book.unmake().is_ok() && !had_folder {
            let _ = std::fs::remove_dir(self.path);
        }
    }
}

/// Opens or creates a book, lets `work` write to it, and flushes it to disk. If `work` fails before
/// anything is written, a book created here is removed again.
///
/// # Errors
/// If the book cannot be opened or written, and the errors of `work`.
pub fn fill<T>(path: &Path, work: impl FnOnce(&mut Book) -> Result<T>) -> Result<T> {
    let room = BookFolder::at(path);
    let mut book = open_book(path, true)?;
    let done = work(&mut book);
    let closed = book.close();
    if done.is_err() {
        room.tidy();
    }
    let done = done?;
    closed?;
    Ok(done)
}
