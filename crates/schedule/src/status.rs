use alloc::vec::Vec;
use core::time::Duration;

use crate::{TaskId, WorkerId};

/// The state of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerStatus {
    /// The worker.
    pub id: WorkerId,
    /// Maximum number of tasks that it runs at a time.
    pub slots: u32,
    /// Tasks that it holds, begun or not.
    pub tasks: Vec<TaskId>,
    /// Tasks that it has answered since it first joined.
    pub done: u64,
    /// Positions a second over the last few heartbeats, all slots together; 0 while unknown.
    pub speed: u64,
    /// Time of its last sign of life, on the caller's clock.
    pub last_seen: Duration,
    /// The reason for a free slot, if it has one.
    pub idle: Option<Idle>,
}

/// The reason why a worker has a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idle {
    /// No task is waiting.
    NoTasks,
    /// It has given no sign of life for the length of a lease.
    Silent,
    /// It handed tasks back and is about to stop.
    Draining,
    /// It failed or fell behind recently, and gets one task at a time until it succeeds.
    Probation,
    /// The waiting tasks have failed on this worker and wait for another one.
    Avoided,
    /// The waiting tasks are of variants that it does not play.
    UnsupportedVariant,
    /// It has not yet shown that its answers are right.
    Qualifying,
    /// Its answers were wrong.
    Quarantined,
}

// Texts of one to four words for a table.
kagetsu_game::names!(Idle {
    NoTasks = "no tasks",
    Silent = "silent",
    Draining = "draining",
    Probation = "on probation",
    Avoided = "tasks avoid it",
    UnsupportedVariant = "no tasks of its variants",
    Qualifying = "being examined",
    Quarantined = "in quarantine",
});

/// Current numbers of workers, questions and tasks, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connected workers.
    pub workers: usize,
    /// Slots of the workers that take tasks.
    pub slots: u64,
    /// Unanswered questions.
    pub open_questions: usize,
    /// Questions that are answered and not [settled](crate::Scheduler::settle).
    pub unsettled_questions: usize,
    /// Tasks without a running lease.
    pub waiting_tasks: usize,
    /// Leases; a task that two workers hold counts twice.
    pub leased_tasks: usize,
    /// Events since the scheduler was created.
    pub totals: Totals,
}

/// Numbers of events since the scheduler was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Assignments, repeated ones included.
    pub assigned: u64,
    /// Assignments of a task that had been assigned before.
    pub reassigned: u64,
    /// Answered tasks.
    pub done: u64,
    /// Answers to tasks that are already answered or no longer known.
    pub late: u64,
    /// Tasks handed back.
    pub handed_back: u64,
    /// Failures that workers reported.
    pub failed: u64,
    /// Tasks taken from a worker because they made no progress.
    pub stalled: u64,
    /// Tasks released to a second worker because the first is slow.
    pub overdue: u64,
    /// Tasks lost with their worker.
    pub lost: u64,
    /// Lost tasks that their worker reclaimed.
    pub regained: u64,
    /// Tasks moved from a worker's queue to another worker's free slot.
    pub moved: u64,
    /// Answered questions.
    pub finished: u64,
    /// Questions dropped after too many failures or losses.
    pub set_aside: u64,
    /// Cancelled questions.
    pub cancelled: u64,
}
