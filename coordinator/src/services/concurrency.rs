//! Bounds on concurrent operations. A refusal says when to try again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use super::views::ViewRunner;

/// The time after which a refused caller should try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The bounds on everything that clients can keep open, over gRPC and HTTP together.
#[derive(Clone, Debug)]
pub(crate) struct ServiceLimits {
    pub(crate) analyses: ConcurrencyLimit,
    pub(crate) watches: ConcurrencyLimit,
    pub(crate) exports: ConcurrencyLimit,
    pub(crate) workers: ConcurrencyLimit,
    pub(crate) heartbeats: ConcurrencyLimit,
    /// Running look-ups of many positions, which take memory for what they have found so far;
    /// further ones wait.
    pub(crate) lookups: Arc<Semaphore>,
    /// Running views; further ones wait.
    pub(crate) views: ViewRunner,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        let limit = |what, max| ConcurrencyLimit {
            what,
            max,
            free: Arc::new(Semaphore::new(max)),
        };
        Self {
            analyses: limit("analyses", 128),
            watches: limit("watches of jobs", 1_024),
            exports: limit("exports", 16),
            workers: limit("workers", 20_000),
            heartbeats: limit("streams of heartbeats", 20_000),
            lookups: Arc::new(Semaphore::new(16)),
            views: ViewRunner::default(),
        }
    }
}

/// A bound on concurrent operations of one kind.
#[derive(Clone, Debug)]
pub(crate) struct ConcurrencyLimit {
    /// The operations, in the plural.
    what: &'static str,
    max: usize,
    free: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    /// Returns a permit that lasts until it is dropped.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` with the time after which to try again.
    pub(crate) fn take(&self) -> Result<OwnedSemaphorePermit, Status> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let (Self { what, max, .. }, wait) = (self, RETRY_AFTER.as_secs());
            let message =
                format!("{max} {what} are open, no more at a time; come again in {wait} s");
            kagetsu_proto::exhausted(message, RETRY_AFTER)
        })
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_proto::retry_after;
    use tonic::Code;

    use super::*;

    #[test]
    fn full_limit_says_when_to_try_again() {
        let ServiceLimits {
            analyses,
            watches,
            exports,
            workers,
            heartbeats,
            ..
        } = ServiceLimits::default();
        for (limit, max, words) in [
            (
                analyses,
                128,
                "128 analyses are open, no more at a time; come again in 5 s",
            ),
            (watches, 1_024, "1024 watches of jobs are open"),
            (exports, 16, "16 exports are open"),
            (workers, 20_000, "20000 workers are open"),
            (heartbeats, 20_000, "20000 streams of heartbeats are open"),
        ] {
            let mut taken: Vec<_> = (0..max).map(|_| limit.take().expect("free")).collect();
            let refusal = limit.take().expect_err("all are taken");
            assert_eq!(refusal.code(), Code::ResourceExhausted);
            assert!(refusal.message().starts_with(words), "{refusal}");
            assert_eq!(retry_after(&refusal), Some(Duration::from_secs(5)));
            taken.pop();
            assert!(limit.take().is_ok(), "one has left");
        }
    }
}
