use core::time::Duration;

/// Timeouts and limits of a [`Scheduler`](crate::Scheduler).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Time without a sign of life after which a worker's tasks go to others. It should cover a few
    /// heartbeats and a reconnection; default 15 s.
    pub lease: Duration,
    /// Time in which a running task must visit at least one more position, or it is taken from its
    /// worker; default 60 s.
    pub stall_timeout: Duration,
    /// Multiple of the time that such tasks take after which, plus one lease, a task without an
    /// answer is assigned to another worker, whatever its heartbeats say; default 16. The first
    /// answer counts.
    pub overdue_factor: u32,
    /// Tasks that a worker holds beyond its slots, so that no slot waits for a round trip, even
    /// after a few tasks that end at once; default 3.
    pub prefetch: u32,
    /// Number of workers that may fail at a task before its question is dropped; with fewer
    /// workers, number of failures. A stalled task counts as failed. At least 1, default 3.
    pub max_attempts: u32,
    /// Number of workers that may be lost while they hold a task before its question is dropped. It
    /// stops a question that crashes workers from emptying the cluster, but survives the restart of
    /// a cluster; default 10.
    pub max_losses: u32,
    /// Minimum number of root moves in a part, without the seed move; at least 1, default 4. Every
    /// part repeats the search of the seed move, so small parts are mostly repetition.
    pub min_moves: usize,
    /// The first id of a task or question. A caller that may restart passes a number above all
    /// earlier ids (its clock in microseconds will do), so that reports of the earlier run are
    /// unknown.
    pub first_id: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(60),
            overdue_factor: 16,
            prefetch: 3,
            max_attempts: 3,
            max_losses: 10,
            min_moves: 4,
            first_id: 0,
        }
    }
}
