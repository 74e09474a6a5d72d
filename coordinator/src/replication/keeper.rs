//! The thread that takes and renews the lease of the book.

use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kagetsu_book::{JournalError, Sequence};
use tokio_util::sync::CancellationToken;

use super::replica::Replica;
use crate::book::handle::BookHandle;
use crate::cluster::shared::Cluster;
use crate::verification::quarantine_file;

/// Renewals of the lease in the time for which it lasts.
const RENEWALS: u32 = 3;
/// The longest time between two attempts of a follower to take the lease.
const MAX_ATTEMPT_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two looks at the shutdown.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Takes the lease when it is free, and renews it until the shutdown; then it gives the lease back.
pub(crate) struct LeaseKeeper {
    pub(crate) replica: Replica,
    pub(crate) book: BookHandle,
    pub(crate) cluster: Weak<Cluster>,
    /// Cancelled when the book is closed.
    pub(crate) closed: CancellationToken,
}

impl LeaseKeeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(self) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new()
            .name("lease".into())
            .spawn(move || self.run())
    }

    fn run(&self) {
        let mut next = Instant::now();
        let mut has_led = false;
        while !self.closed.is_cancelled() {
            if Instant::now() < next {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            let leads = self.replica.lease.is_held();
            if has_led && !leads {
                // The book has entries that were never committed, so this process leads no more.
                self.replica.leadership.set(false);
                self.book.depose();
                return;
            }
            let interval = if leads {
                self.replica.ttl / RENEWALS
            } else {
                (self.replica.ttl / RENEWALS).min(MAX_ATTEMPT_INTERVAL)
            };
            next = Instant::now() + interval;
            let done = if leads { self.renew() } else { self.attempt() };
            has_led |= self.replica.lease.is_held();
            match done {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!("{error}"),
            }
        }
        if self.replica.lease.is_held()
            && let Err(error) = self.replica.lease.release()
        {
            tracing::warn!("the lease of the book ends by itself: {error}");
        }
    }

    /// Takes the lease if it is free. Returns `false` where this coordinator must end.
    fn attempt(&self) -> Result<bool, JournalError> {
        let Replica {
            lease,
            leadership,
            address,
            ttl,
        } = &self.replica;
        let Some((Sequence(entries), digest)) = lease.acquire(address, *ttl)? else {
            leadership.set_leader(lease.leader()?);
            return Ok(true);
        };
        let Some(cluster) = self.cluster.upgrade() else {
            return Ok(false);
        };
        match quarantine_file::parse(&lease.read_quarantine()?) {
            Ok(workers) => cluster.restore_quarantine(workers),
            Err(reason) => {
                tracing::error!("the list of workers in quarantine is damaged: {reason}")
            }
        }
        tracing::info!(entries, "this coordinator leads the book");
        self.book.lead(Sequence(entries), digest);
        Ok(true)
    }

    /// Renews the lease. Returns `false` where another coordinator has taken over.
    fn renew(&self) -> Result<bool, JournalError> {
        if self.replica.lease.renew(self.replica.ttl)? {
            return Ok(true);
        }
        self.replica.leadership.set(false);
        self.replica
            .leadership
            .set_leader(self.replica.lease.leader()?);
        self.book.depose();
        Ok(false)
    }
}
