use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kagetsu_book::{JournalDigest, JournalError, Sequence};

use crate::client::schema::{self, JournalHead};
use crate::client::state::JournalState;

/// The right to append to a book's journal, for a time by the clock of the database.
///
/// Each taking over begins an epoch. A commit names its epoch, so the fence holds even where a
/// process does not know that its lease has ended.
#[derive(Clone)]
pub struct BookLease {
    shared: Arc<JournalState>,
    /// Names this process among all that ever asked.
    holder: Arc<str>,
}

impl BookLease {
    pub(crate) fn new(shared: Arc<JournalState>) -> Self {
        let holder = format!("{:032x}", rand::random::<u128>());
        Self {
            shared,
            holder: holder.into(),
        }
    }

    /// Takes the lease for `ttl` if no other process has it. Followers and clients learn the
    /// `address` of this process. Returns the end of the journal, which the book must reach before
    /// it appends; `None` where another process leads.
    ///
    /// # Errors
    /// If the database cannot be reached, takes no writes, or has lost the end of the journal;
    /// then no process leads.
    pub fn acquire(
        &self,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
        let (book, ttl) = (self.shared.book, milliseconds(ttl));
        let (holder, address) = (self.holder.to_string(), address.to_string());
        self.shared.check_end()?;
        let taken = self.shared.lease.request(move |client| {
            let row = client.query_opt(
                "update kagetsu_book set epoch = epoch + 1, holder = $2, address = $3, \
                 until = now() + $4 * interval '1 millisecond' \
                 where id = $1 and (until < now() or holder = $2) \
                 returning epoch, entries, digest",
                &[&book, &holder, &address, &ttl],
            )?;
            Ok(row.map(|row| {
                let head = JournalHead {
                    book,
                    entries: row.get::<_, i64>(1).unsigned_abs(),
                    digest: row.get::<_, i64>(2).cast_unsigned(),
                };
                (row.get::<_, i64>(0), head)
            }))
        })?;
        Ok(taken.map(|(epoch, head)| {
            self.shared.lead(epoch, head);
            (Sequence(head.entries), JournalDigest(head.digest))
        }))
    }

    /// Extends the lease by `ttl` from now. Returns `false` where this process does not lead any
    /// more.
    ///
    /// # Errors
    /// If the database cannot be reached; then the lease may go on or end. If it has lost the end
    /// of the journal, which is told as [`JournalError::Altered`].
    pub fn renew(&self, ttl: Duration) -> Result<bool, JournalError> {
        let epoch = self.shared.epoch.load(Ordering::Acquire);
        if epoch == 0 {
            return Ok(false);
        }
        let (book, ttl) = (self.shared.book, milliseconds(ttl));
        let renewed = self.shared.lease.request(move |client| {
            client.execute(
                "update kagetsu_book set until = now() + $3 * interval '1 millisecond' \
                 where id = $1 and epoch = $2",
                &[&book, &epoch, &ttl],
            )
        })?;
        if renewed == 0 {
            self.shared.depose(self.leader()?);
            return Ok(false);
        }
        match self.shared.check_end() {
            Err(error @ JournalError::Altered { .. }) => Err(error),
            // The lease is renewed all the same.
            _ => Ok(true),
        }
    }

    /// Gives the lease back, so that another process may take it at once.
    ///
    /// # Errors
    /// If the database cannot be reached; then the lease ends by itself.
    pub fn release(&self) -> Result<(), JournalError> {
        let epoch = self.shared.epoch.swap(0, Ordering::AcqRel);
        let book = self.shared.book;
        self.shared.lease.request(move |client| {
            client.execute(
                "update kagetsu_book set until = now() - interval '1 second', address = '' \
                 where id = $1 and epoch = $2",
                &[&book, &epoch],
            )
        })?;
        Ok(())
    }

    /// Sets for how long a commit is repeated while the database cannot be reached; without end for
    /// `None`, even where its disk is full. It holds for a commit that runs, too. The default is
    /// 60 seconds.
    pub fn set_commit_patience(&self, patience: Option<Duration>) {
        self.shared.set_commit_patience(patience);
    }

    /// Sets whether a read is repeated, for up to 10 seconds, while the database cannot be reached.
    /// The default is `true`.
    pub fn repeat_reads(&self, repeats: bool) {
        self.shared.repeat_reads(repeats);
    }

    /// Returns the end of the journal in the database; `None` where the book is gone.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub fn end(&self) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
        let book = self.shared.book;
        Ok(self.shared.lease.request(move |client| {
            let row = client.query_opt(
                "select entries, digest from kagetsu_book where id = $1",
                &[&book],
            )?;
            Ok(row.map(|row| {
                let entries = Sequence(row.get::<_, i64>(0).unsigned_abs());
                (entries, JournalDigest(row.get::<_, i64>(1).cast_unsigned()))
            }))
        })?)
    }

    /// Returns whether this process leads, as far as it knows.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.shared.epoch.load(Ordering::Acquire) != 0
    }

    /// Returns the address of the process that leads, if there is one and it has an address.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub fn leader(&self) -> Result<Option<String>, JournalError> {
        let book = self.shared.book;
        Ok(self.shared.lease.request(move |client| {
            let row = client.query_opt(
                "select address from kagetsu_book where id = $1 and until > now() and address <> ''",
                &[&book],
            )?;
            Ok(row.map(|row| row.get::<_, String>(0)))
        })?)
    }

    /// Reads the list of workers in quarantine; an empty text where there is none.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub fn read_quarantine(&self) -> Result<String, JournalError> {
        Ok(schema::read_quarantine(
            &self.shared.lease,
            self.shared.book,
        )?)
    }

    /// Replaces the list of workers in quarantine, if this process leads.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub fn write_quarantine(&self, body: &str) -> Result<(), JournalError> {
        let at = (self.shared.book, self.shared.epoch.load(Ordering::Acquire));
        let body = body.to_string();
        let write =
            move |client: &mut postgres::Client| schema::write_quarantine(client, at, &body);
        self.shared.lease.request(write)?;
        Ok(())
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
