use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kagetsu_book::{JournalDigest, JournalError, Sequence};

use crate::book_lease::BookLease;
use crate::client::schema::{self, JournalHead};
use crate::client::state::JournalState;

/// The lease of a book, as its row in the database has it.
pub(crate) struct DatabaseLease {
    shared: Arc<JournalState>,
    /// Names this process among all that ever asked.
    holder: String,
}

impl DatabaseLease {
    pub(crate) fn new(shared: Arc<JournalState>) -> Self {
        let holder = format!("{:032x}", rand::random::<u128>());
        Self { shared, holder }
    }
}

impl BookLease for DatabaseLease {
    fn acquire(
        &self,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
        let (book, ttl) = (self.shared.book, milliseconds(ttl));
        let (holder, address) = (self.holder.clone(), address.to_string());
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

    fn renew(&self, ttl: Duration) -> Result<bool, JournalError> {
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

    fn release(&self) -> Result<(), JournalError> {
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

    fn set_commit_patience(&self, patience: Option<Duration>) {
        self.shared.set_commit_patience(patience);
    }

    fn repeat_reads(&self, repeats: bool) {
        self.shared.repeat_reads(repeats);
    }

    fn end(&self) -> Result<Option<(Sequence, JournalDigest)>, JournalError> {
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

    fn is_held(&self) -> bool {
        self.shared.epoch.load(Ordering::Acquire) != 0
    }

    fn leader(&self) -> Result<Option<String>, JournalError> {
        let book = self.shared.book;
        Ok(self.shared.lease.request(move |client| {
            let row = client.query_opt(
                "select address from kagetsu_book where id = $1 and until > now() and address <> ''",
                &[&book],
            )?;
            Ok(row.map(|row| row.get::<_, String>(0)))
        })?)
    }

    fn read_quarantine(&self) -> Result<String, JournalError> {
        Ok(schema::read_quarantine(
            &self.shared.lease,
            self.shared.book,
        )?)
    }

    fn write_quarantine(&self, body: &str) -> Result<(), JournalError> {
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
