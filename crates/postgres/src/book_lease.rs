use std::time::Duration;

use kagetsu_book::{JournalDigest, JournalError, Sequence};

/// The right to append to a book's journal, for a time by the clock of the database.
///
/// Each taking over begins an epoch. A commit names its epoch, so the fence holds even where a
/// process does not know that its lease has ended.
pub trait BookLease: Send + Sync {
    /// Takes the lease for `ttl` if no other process has it. Followers and clients learn the
    /// `address` of this process. Returns the end of the journal, which the book must reach before
    /// it appends; `None` where another process leads.
    ///
    /// # Errors
    /// If the database cannot be reached, takes no writes, or has lost the end of the journal;
    /// then no process leads.
    fn acquire(
        &self,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<(Sequence, JournalDigest)>, JournalError>;

    /// Extends the lease by `ttl` from now. Returns `false` where this process does not lead any
    /// more.
    ///
    /// # Errors
    /// If the database cannot be reached; then the lease may go on or end. If it has lost the end
    /// of the journal, which is told as [`JournalError::Altered`].
    fn renew(&self, ttl: Duration) -> Result<bool, JournalError>;

    /// Gives the lease back, so that another process may take it at once.
    ///
    /// # Errors
    /// If the database cannot be reached; then the lease ends by itself.
    fn release(&self) -> Result<(), JournalError>;

    /// Sets for how long a commit is repeated while the database cannot be reached; without end for
    /// `None`, even where its disk is full. It holds for a commit that runs, too. The default is
    /// 60 seconds.
    fn set_commit_patience(&self, patience: Option<Duration>);

    /// Sets whether a read is repeated, for up to 10 seconds, while the database cannot be reached.
    /// The default is `true`.
    fn repeat_reads(&self, repeats: bool);

    /// Returns the end of the journal in the database; `None` where the book is gone.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn end(&self) -> Result<Option<(Sequence, JournalDigest)>, JournalError>;

    /// Returns whether this process leads, as far as it knows.
    #[must_use]
    fn is_held(&self) -> bool;

    /// Returns the address of the process that leads, if there is one and it has an address.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn leader(&self) -> Result<Option<String>, JournalError>;

    /// Reads the list of workers in quarantine; an empty text where there is none.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn read_quarantine(&self) -> Result<String, JournalError>;

    /// Replaces the list of workers in quarantine, if this process leads.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn write_quarantine(&self, body: &str) -> Result<(), JournalError>;
}
