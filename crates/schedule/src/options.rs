use core::time::Duration;

use crate::Distribution;

/// How patient, how eager and how generous a [`Scheduler`](crate::Scheduler) is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A worker that gives no sign of life for so long loses its tasks to others. A few heartbeats and a reconnection
    /// should fit in it; default 15 s.
    pub lease: Duration,
    /// A task that its worker runs without visiting one more position for so long is taken away, however punctual the
    /// worker's heartbeats are; default 60 s.
    pub stall_timeout: Duration,
    /// A task whose worker has fallen far behind its own pace is given to another worker too, after so many times what it
    /// should take, and a lease; default 4.
    pub overdue_factor: u32,
    /// As long as a worker may take over its [exam](crate::Suspension::Qualification), work that is for [others](crate::Scheduler::has_other_worker)
    /// waits for it; default 2 min.
    pub qualification_timeout: Duration,
    /// Tasks that a worker holds beyond its slots, so that it never waits a round trip; default 1.
    pub prefetch: u32,
    /// Workers that fail at a task (that report it, or stand still) before its question is set aside; where there are not so
    /// many, failures. At least 1, default 3.
    pub max_attempts: u32,
    /// Workers lost with one task in their hands after which its question is set aside: a question that kills whoever
    /// takes it must not empty the cluster, but a cluster that is being restarted must not lose its questions; default 10.
    pub max_losses: u32,
    /// How root moves are dealt to the parts of a split question.
    pub distribution: Distribution,
    /// Fewest root moves of a part, the seed move not counted; at least 1, default 4. Every part repeats the search of
    /// the seed move, so parts that are too small are mostly repetition.
    pub min_moves: usize,
    /// The first number given to a task or a question. A caller that may be restarted passes one above all that it used
    /// before (its clock in microseconds will do): then a report from the life before is unknown, never mistaken.
    pub first_id: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(60),
            overdue_factor: 4,
            qualification_timeout: Duration::from_secs(120),
            prefetch: 1,
            max_attempts: 3,
            max_losses: 10,
            distribution: Distribution::default(),
            min_moves: 4,
            first_id: 0,
        }
    }
}
