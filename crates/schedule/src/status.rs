use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::{TaskId, WorkerId};

/// What is known of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerStatus {
    /// Which.
    pub id: WorkerId,
    /// Tasks that it runs at the same time.
    pub slots: u32,
    /// Tasks in its hands, begun or not.
    pub tasks: Vec<TaskId>,
    /// Tasks that it has answered since it first joined.
    pub done: u64,
    /// Positions a second over the last few heartbeats, all its slots together; 0 until it is known.
    pub speed: u64,
    /// When it was last heard of, on the caller's clock.
    pub last_seen: Duration,
    /// Why a slot of it is free, if one is.
    pub idle: Option<Idle>,
}

/// Why a worker has a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idle {
    /// There is nothing left to hand out.
    NoTasks,
    /// It has not been heard of for the length of a lease.
    Silent,
    /// It handed tasks back: it is about to stop.
    Draining,
    /// It failed lately, or fell behind, and has a single task until it succeeds.
    Probation,
    /// What waits has failed here before, and waits for another worker.
    Avoided,
    /// What waits is of variants that its engine does not play.
    UnsupportedVariant,
    /// It has yet to show that its answers are right.
    Qualifying,
    /// Its answers were wrong.
    Quarantined,
}

impl Idle {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::NoTasks,
        Self::Silent,
        Self::Draining,
        Self::Probation,
        Self::Avoided,
        Self::UnsupportedVariant,
        Self::Qualifying,
        Self::Quarantined,
    ];
}

/// `no tasks`, `silent`, ...: one word or two for a table.
impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTasks => "no tasks",
            Self::Silent => "silent",
            Self::Draining => "draining",
            Self::Probation => "on probation",
            Self::Avoided => "tasks avoid it",
            Self::UnsupportedVariant => "no tasks of its variants",
            Self::Qualifying => "being examined",
            Self::Quarantined => "in quarantine",
        })
    }
}

/// How many there are of everything, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Workers that have joined and not left.
    pub workers: usize,
    /// Slots of the workers that are heard of and not about to stop.
    pub slots: u64,
    /// Questions that are not answered.
    pub open_questions: usize,
    /// Questions that are answered and not [settled](crate::Scheduler::settle).
    pub unsettled_questions: usize,
    /// Tasks that nobody works on.
    pub waiting_tasks: usize,
    /// Tasks in the hands of workers; one that two hold counts twice.
    pub leased_tasks: usize,
    /// What has happened since the scheduler was made.
    pub totals: Totals,
}

/// What has happened since the scheduler was made; only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Tasks handed out, again ones included.
    pub assigned: u64,
    /// Of these, handed out for the second time or later.
    pub reassigned: u64,
    /// Tasks answered.
    pub done: u64,
    /// Answers that came after another for the same task, or for a task that is not known any more.
    pub late: u64,
    /// Tasks handed back.
    pub handed_back: u64,
    /// Failures reported by workers.
    pub failed: u64,
    /// Tasks taken away because they did not get on.
    pub stalled: u64,
    /// Tasks given to another worker too, because theirs had fallen behind.
    pub overdue: u64,
    /// Tasks lost with their worker.
    pub lost: u64,
    /// Lost tasks that their worker still had when it came back.
    pub regained: u64,
    /// Tasks moved from the end of one worker's queue to a free slot of another.
    pub moved: u64,
    /// Questions answered.
    pub finished: u64,
    /// Questions set aside.
    pub set_aside: u64,
    /// Questions cancelled.
    pub cancelled: u64,
}
