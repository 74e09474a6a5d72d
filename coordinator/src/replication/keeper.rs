//! The thread that takes and renews the lease of the book, and tells a follower what the leader has
//! appended.

use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kagetsu_book::{JournalDigest, JournalError, Sequence};
use tokio_util::sync::CancellationToken;

use super::outage::Outage;
use super::replica::Replica;
use crate::book::handle::{BookHandle, Command};
use crate::cluster::shared::Cluster;
use crate::verification::quarantine_file;

/// Renewals of the lease in the time for which it lasts.
const RENEWALS: u32 = 3;
/// The longest time between two attempts of a follower to take the lease.
const MAX_ATTEMPT_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two looks of a follower at the end of the journal.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);
/// Time between two looks at the shutdown.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time for which a coordinator that shuts down repeats a commit.
const LAST_COMMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes the lease when it is free, and renews it until the shutdown; then it gives the lease back.
/// While the database is away, a leader's lease may end: then the coordinator answers like a
/// follower, and goes on leading if the database comes back before another has taken the lease.
pub(crate) struct LeaseKeeper {
    pub(crate) replica: Replica,
    pub(crate) book: BookHandle,
    pub(crate) cluster: Weak<Cluster>,
    /// Cancelled when the coordinator is to stop.
    pub(crate) shutdown: CancellationToken,
    /// Cancelled when the book is closed.
    pub(crate) closed: CancellationToken,
}

/// The keeper's view of the lease.
struct LeaseState {
    has_led: bool,
    /// Whether the database has been away for as long as a lease lasts. Then a lease that was held
    /// has run out, and a follower does not know which coordinator leads.
    is_cut_off: bool,
    /// A moment before the last renewal, or before a follower's last attempt that was answered.
    last_contact: Instant,
    next_attempt: Instant,
    next_look: Instant,
    /// The last end of the journal that was sent to the book writer.
    end: Option<(Sequence, JournalDigest)>,
    /// Outages of the lease. A role may lack the right to lead and have the one to follow.
    lease_outage: Outage,
    /// Outages of the looks at the end of the journal.
    look_outage: Outage,
}

/// The result of a look at what is due.
enum LeaseStep {
    Idle,
    /// The database was queried.
    Done,
    /// This coordinator must end.
    Ended,
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
        let now = Instant::now();
        let mut state = LeaseState {
            has_led: false,
            is_cut_off: false,
            last_contact: now,
            next_attempt: now,
            next_look: now,
            end: None,
            lease_outage: Outage::default(),
            look_outage: Outage::default(),
        };
        let mut is_ending = false;
        while !self.closed.is_cancelled() {
            if self.shutdown.is_cancelled() && !is_ending {
                is_ending = true;
                let patience = Some(LAST_COMMIT_TIMEOUT);
                self.replica.lease.set_commit_patience(patience);
            }
            let (done, outage) = match self.step(&mut state) {
                Ok(LeaseStep::Idle) => (self.look(&mut state), &mut state.look_outage),
                done => (done, &mut state.lease_outage),
            };
            match done {
                Ok(LeaseStep::Idle) => {}
                Ok(LeaseStep::Ended) => return,
                // Nothing was changed, so the entries can be brought back.
                Err(error @ JournalError::Altered { .. }) => {
                    self.replica.leadership.set(false);
                    self.book.send(Command::End(error));
                    return;
                }
                done => {
                    if done.is_err() {
                        // The book writer may have missed the end that it was told.
                        state.end = None;
                    }
                    outage.observe(done);
                }
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        if self.replica.lease.is_held()
            && let Err(error) = self.replica.lease.release()
        {
            tracing::warn!("the lease of the book ends by itself: {error}");
        }
    }

    /// Takes or renews the lease where that is due.
    fn step(&self, state: &mut LeaseState) -> Result<LeaseStep, JournalError> {
        let Replica {
            lease,
            leadership,
            ttl,
            ..
        } = &self.replica;
        let now = Instant::now();
        let leads = lease.is_held();
        if state.has_led && !leads {
            // The book has entries that were never committed, so this process leads no more.
            leadership.set(false);
            self.book.send(Command::End(self.replica.not_leader()));
            return Ok(LeaseStep::Ended);
        }
        if !state.is_cut_off && now.duration_since(state.last_contact) >= *ttl {
            state.is_cut_off = true;
            leadership.set(false);
            leadership.set_leader(None);
            if leads {
                tracing::error!(
                    "the lease of the book has run out; look-ups go on, and the rest waits for \
                     the database"
                );
            }
        }
        if now >= state.next_attempt {
            let interval = *ttl / RENEWALS;
            state.next_attempt = now
                + if leads && !state.is_cut_off {
                    interval
                } else {
                    interval.min(MAX_ATTEMPT_INTERVAL)
                };
            if leads {
                if !self.renew()? {
                    return Ok(LeaseStep::Ended);
                }
                state.last_contact = now;
                if std::mem::take(&mut state.is_cut_off) {
                    leadership.set(true);
                    tracing::info!("this coordinator leads the book again");
                }
                return Ok(LeaseStep::Done);
            }
            let goes_on = self.attempt()?;
            state.last_contact = now;
            state.is_cut_off = false;
            state.has_led = lease.is_held();
            return Ok(if goes_on {
                LeaseStep::Done
            } else {
                LeaseStep::Ended
            });
        }
        Ok(LeaseStep::Idle)
    }

    /// Tells the book writer of a follower the end of the journal where a look at it is due.
    fn look(&self, state: &mut LeaseState) -> Result<LeaseStep, JournalError> {
        let now = Instant::now();
        if self.replica.lease.is_held() || now < state.next_look {
            return Ok(LeaseStep::Idle);
        }
        state.next_look = now + FOLLOW_INTERVAL;
        let end = self.replica.lease.end()?;
        if end != state.end
            && let Some((sequence, digest)) = end
        {
            self.book.send(Command::Follow(sequence, digest));
            state.end = end;
        }
        Ok(LeaseStep::Done)
    }

    /// Takes the lease if it is free. Returns `false` where this coordinator must end.
    fn attempt(&self) -> Result<bool, JournalError> {
        let Replica {
            lease,
            leadership,
            address,
            ttl,
            ..
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
        self.book.send(Command::Lead(Sequence(entries), digest));
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
        self.book.send(Command::End(self.replica.not_leader()));
        Ok(false)
    }
}
