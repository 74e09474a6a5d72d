//! Refusals of what is too much at once: each says when to come again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

/// How much is open at a time of all that a client can open, over gRPC and HTTP together.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) analyses: Places,
    pub(crate) watches: Places,
    pub(crate) exports: Places,
    pub(crate) workers: Places,
    pub(crate) beats: Places,
    /// Look-ups of many positions that are at work; others wait.
    pub(crate) lookups: Arc<Semaphore>,
}

impl Default for Limits {
    fn default() -> Self {
        let places = |what, most| Places::new(what, most, Duration::from_secs(5));
        Self {
            analyses: places("analyses", 128),
            watches: places("watches of jobs", 1_024),
            exports: places("exports", 16),
            workers: places("workers", 20_000),
            beats: places("streams of heartbeats", 20_000),
            lookups: Arc::new(Semaphore::new(16)),
        }
    }
}

/// So many of something at a time.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    what: &'static str,
    most: usize,
    wait: Duration,
    free: Arc<Semaphore>,
}

impl Places {
    /// `what` is in the plural; who finds none free should come again after `wait`.
    pub(crate) fn new(what: &'static str, most: usize, wait: Duration) -> Self {
        Self {
            what,
            most,
            wait,
            free: Arc::new(Semaphore::new(most)),
        }
    }

    /// A place, until it is dropped.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` with the time after which to come again.
    pub(crate) fn take(&self) -> Result<OwnedSemaphorePermit, Status> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let Self {
                what, most, wait, ..
            } = self;
            kagetsu_proto::exhausted(
                format!(
                    "{most} {what} are open, no more at a time; come again in {} s",
                    wait.as_secs()
                ),
                *wait,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_proto::retry_after;
    use tonic::Code;

    use super::*;

    #[test]
    fn of_each_kind_there_are_so_many_and_who_comes_later_is_told_when_to_come_again() {
        let Limits {
            analyses,
            watches,
            exports,
            workers,
            beats,
            ..
        } = Limits::default();
        for (places, most, words) in [
            (
                analyses,
                128,
                "128 analyses are open, no more at a time; come again in 5 s",
            ),
            (watches, 1_024, "1024 watches of jobs are open"),
            (exports, 16, "16 exports are open"),
            (workers, 20_000, "20000 workers are open"),
            (beats, 20_000, "20000 streams of heartbeats are open"),
        ] {
            let mut taken: Vec<_> = (0..most).map(|_| places.take().expect("free")).collect();
            let refusal = places.take().expect_err("all are taken");
            assert_eq!(refusal.code(), Code::ResourceExhausted);
            assert!(refusal.message().starts_with(words), "{refusal}");
            assert_eq!(retry_after(&refusal), Some(Duration::from_secs(5)));
            taken.pop();
            assert!(places.take().is_ok(), "one has left");
        }
    }
}
