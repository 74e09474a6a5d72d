//! The names of the crate without its client. No [`BookUrl`] exists, so nothing else does.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;

use kagetsu_book::{BookError, Journal, JournalError};

use crate::shared_book::SharedBook;
use crate::transfer_report::TransferReport;

/// The address of a book in a database. This program cannot have one.
#[derive(Clone, Debug)]
pub struct BookUrl(Infallible);

/// The reason why an address is refused: the program was built without its client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this program was built without PostgreSQL; build it with `cargo build --release --features \
     postgres`, or give a folder, a compiled file or a server's URL"
)]
pub struct BookUrlError;

impl BookUrl {
    /// Refuses every address.
    ///
    /// # Errors
    /// Always.
    pub const fn parse(_: &str) -> Result<Self, BookUrlError> {
        Err(BookUrlError)
    }

    /// Returns the name of the book.
    #[must_use]
    pub const fn name(&self) -> &str {
        match self.0 {}
    }
}

impl fmt::Display for BookUrl {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

/// Opens a book for a process that may lead it.
///
/// # Errors
/// Never: no address exists.
pub const fn join(url: &BookUrl) -> Result<SharedBook, JournalError> {
    match url.0 {}
}

/// Opens the journal of a book to read it.
///
/// # Errors
/// Never: no address exists.
pub const fn open(url: &BookUrl) -> Result<Box<dyn Journal>, JournalError> {
    match url.0 {}
}

/// Copies the journal of a folder's book into a database.
///
/// # Errors
/// Never: no address exists.
pub const fn push(_: &Path, url: &BookUrl) -> Result<TransferReport, BookError> {
    match url.0 {}
}

/// Copies the journal of a book in a database into a folder.
///
/// # Errors
/// Never: no address exists.
pub const fn pull(url: &BookUrl, _: &Path) -> Result<TransferReport, BookError> {
    match url.0 {}
}
