//! The names of the crate without its client. No [`BookUrl`] exists, so nothing else does.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use kagetsu_book::{BookError, Journal, JournalDigest, JournalError, Sequence, Syncer};

use crate::scheme::names_database;
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

/// The journal of a book in a database. This program cannot have one.
pub struct PostgresJournal(Infallible);

/// The lease of a book in a database. This program cannot have one.
#[derive(Clone)]
pub struct BookLease(Infallible);

impl BookUrl {
    /// Returns whether a path or URL names a book in a database.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        names_database(text)
    }

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

impl PostgresJournal {
    /// Opens the journal of a book, and makes tables and book where they are missing.
    ///
    /// # Errors
    /// Never: no address exists.
    pub const fn create(url: &BookUrl) -> Result<Self, JournalError> {
        match url.0 {}
    }

    /// Opens the journal of an existing book.
    ///
    /// # Errors
    /// Never: no address exists.
    pub const fn open(url: &BookUrl) -> Result<Self, JournalError> {
        match url.0 {}
    }

    /// Returns the lease of the book.
    #[must_use]
    pub const fn lease(&self) -> BookLease {
        match self.0 {}
    }

    /// Returns what the database may lose of acknowledged work when it fails.
    #[must_use]
    pub const fn warnings(&self) -> Vec<String> {
        match self.0 {}
    }
}

impl Journal for PostgresJournal {
    fn place(&self) -> String {
        match self.0 {}
    }

    fn entries(&self) -> u64 {
        match self.0 {}
    }

    fn append(&mut self, _: &[u8]) -> Result<Sequence, JournalError> {
        match self.0 {}
    }

    fn syncer(&self) -> Syncer {
        match self.0 {}
    }

    fn read(&self, _: Sequence, _: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        match self.0 {}
    }

    fn digest(&self, _: Sequence) -> Result<Option<JournalDigest>, JournalError> {
        match self.0 {}
    }
}

impl BookLease {
    /// Takes the lease.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn acquire(
        &self,
        _: &str,
        _: Duration,
    ) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
        match self.0 {}
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn renew(&self, _: Duration) -> Result<bool, JournalError> {
        match self.0 {}
    }

    /// Gives the lease back.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn release(&self) -> Result<(), JournalError> {
        match self.0 {}
    }

    /// Sets for how long a commit is repeated.
    pub const fn set_commit_patience(&self, _: Option<Duration>) {
        match self.0 {}
    }

    /// Sets whether a read is repeated.
    pub const fn repeat_reads(&self, _: bool) {
        match self.0 {}
    }

    /// Returns the end of the journal in the database.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn end(&self) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
        match self.0 {}
    }

    /// Returns whether this process leads the book.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        match self.0 {}
    }

    /// Returns the address of the process that leads.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn leader(&self) -> Result<Option<String>, JournalError> {
        match self.0 {}
    }

    /// Reads the quarantine.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn read_quarantine(&self) -> Result<String, JournalError> {
        match self.0 {}
    }

    /// Writes the quarantine.
    ///
    /// # Errors
    /// Never: no lease exists.
    pub const fn write_quarantine(&self, _: &str) -> Result<(), JournalError> {
        match self.0 {}
    }
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
