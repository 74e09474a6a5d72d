//! How the book follows the journal of another coordinator.

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use kagetsu_book::{BookError, JournalDigest, JournalError, Sequence};

use super::committer::CommitBatch;
use super::handle::Command;
use super::writer::BookWriter;
use crate::replication::replica::Replica;

/// Entries that a follower applies at a time.
const FOLLOW_ENTRIES: usize = 1024;

impl BookWriter {
    /// Follows the journal that another coordinator appends to, and answers look-ups, until this
    /// coordinator leads. Returns `false` after a stop.
    pub(super) fn follow(&mut self, replica: &Replica) -> Result<bool> {
        // Look-ups do not wait for a database that is away: the next look at the journal reads it.
        replica.lease.repeat_reads(false);
        while let Ok(command) = self.orders.recv() {
            let refusal = || BookError::from(replica.not_leader());
            match command {
                Command::Follow(end, digest) => {
                    if self.catch_up(None)? {
                        self.check_end(end, digest)?;
                    }
                    self.publish_waiting()?;
                }
                Command::Lead(end, digest) => {
                    replica.lease.repeat_reads(true);
                    self.catch_up(Some(end))?;
                    self.check_end(end, digest)?;
                    replica.leadership.set_leader(None);
                    replica.leadership.set(true);
                    return Ok(true);
                }
                Command::End(reason) => return Err(reason.into()),
                Command::Stop => return Ok(false),
                Command::Start(_, reply) | Command::Change(_, _, reply) => {
                    reply.give(Err(refusal()));
                }
                Command::Learn(_, _, reply) | Command::Annotate(_, _, reply) => {
                    reply.give(Err(refusal()));
                }
                Command::Refill => self.is_refilling.store(false, Ordering::Release),
                Command::Lookup(..) | Command::Snapshot(_) => self.read(command),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Compares the book with an end of the journal in the database, if the book is not beyond it.
    fn check_end(&self, end: Sequence, digest: JournalDigest) -> Result<()> {
        let (sequence, found) = (self.book.sequence(), self.book.digest());
        if sequence < end || (sequence == end && found != digest) {
            return Err(JournalError::OtherHistory(self.book.place()).into());
        }
        Ok(())
    }

    /// Applies what the leader has appended, to this end if one is given, and publishes it. Returns
    /// `false` where no end is given and the database is away.
    fn catch_up(&mut self, end: Option<Sequence>) -> Result<bool> {
        loop {
            let before = self.book.sequence();
            let read = self.book.catch_up(FOLLOW_ENTRIES);
            match read {
                Ok(0) if end.is_none_or(|end| before >= end) => return Ok(true),
                Ok(0) => return Err(JournalError::OtherHistory(self.book.place()).into()),
                Ok(_) => {}
                // The database may come back; look-ups go on meanwhile.
                Err(error @ BookError::Journal(JournalError::Server(_))) if end.is_none() => {
                    tracing::warn!("cannot follow the journal: {error}");
                    return Ok(false);
                }
                Err(error) => return Err(error).context("cannot follow the journal"),
            }
            let changed = self.changed(before)?;
            self.committer.send(CommitBatch {
                changed,
                ..CommitBatch::default()
            })?;
        }
    }
}
