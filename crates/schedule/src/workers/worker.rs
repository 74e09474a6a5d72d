use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Variant;

use crate::workers::SearchSpeed;
use crate::{Capacity, Idle, Options, Suspension, TaskId, WorkerId, WorkerStatus};

/// Failures in a row after which a worker pauses for a second.
const FAILURES_BEFORE_PAUSE: u32 = 4;
/// The longest pause is so many times doubled: about a minute.
const MAX_PAUSE_DOUBLINGS: u32 = 6;

/// One worker as the scheduler sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) slots: u32,
    /// The variants that it plays; `None`: all.
    pub(crate) plays: Option<Arc<BTreeSet<Variant>>>,
    pub(crate) is_trusted: bool,
    /// Number of its last assignment; the lowest is served next.
    pub(crate) sequence: u64,
    pub(crate) is_silent: bool,
    pub(crate) is_draining: bool,
    /// Why it gets no tasks, and since when.
    pub(crate) suspension: Option<(Suspension, Duration)>,
    /// Failures since its last success.
    pub(crate) failures_in_row: u32,
    /// The end of its pause after failures.
    pub(crate) paused_until: Option<Duration>,
    pub(crate) done: u64,
    leases: BTreeMap<TaskId, Lease>,
    last_seen: Duration,
    meter: SpeedMeter,
    pub(crate) speed: SearchSpeed,
}

/// The waiting tasks, from the view of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingTasks {
    /// It plays the variant of at least one of them.
    Playable,
    /// It plays none of their variants.
    Foreign,
}

/// A task that a worker holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) attempt: u32,
    pub(crate) priority: u64,
    /// Number of the assignment.
    pub(crate) sequence: u64,
    /// Positions visited, as last reported; 0 until the task is begun.
    pub(crate) nodes: u64,
    /// Time of the last progress, or of the last reason to have none.
    pub(crate) progressed: Duration,
    /// Time of the assignment, or when it was last known to be queued.
    pub(crate) began: Duration,
    /// Time after `began` at which its progress is checked, if ever.
    pub(crate) allowance: Option<Duration>,
}

impl Lease {
    /// A new lease.
    pub(crate) const fn new(
        attempt: u32,
        priority: u64,
        sequence: u64,
        now: Duration,
        allowance: Option<Duration>,
    ) -> Self {
        Self {
            attempt,
            priority,
            sequence,
            nodes: 0,
            progressed: now,
            began: now,
            allowance,
        }
    }

    /// Returns when its progress is to be checked.
    fn due(&self) -> Option<Duration> {
        self.allowance
            .map(|allowance| self.began.saturating_add(allowance))
    }
}

impl Worker {
    pub(crate) fn new(now: Duration, capacity: Capacity) -> Self {
        Self {
            slots: capacity.slots,
            plays: capacity.plays,
            is_trusted: capacity.is_trusted,
            sequence: 0,
            is_silent: false,
            is_draining: false,
            suspension: None,
            failures_in_row: 0,
            paused_until: None,
            done: 0,
            leases: BTreeMap::new(),
            last_seen: now,
            meter: SpeedMeter {
                since: now,
                nodes: 0,
                speed: 0,
            },
            speed: SearchSpeed::default(),
        }
    }

    /// Records a sign of life. Queued tasks count as having progressed, since they wait for others.
    pub(crate) fn heard_from(&mut self, now: Duration) {
        self.last_seen = now;
        self.is_silent = false;
        self.meter.read(now);
        for task in self.queued() {
            self.leases
                .entry(task)
                .and_modify(|lease| (lease.progressed, lease.began) = (now, now));
        }
    }

    /// Records the positions visited for a task; returns whether the worker holds it.
    pub(crate) fn progress(&mut self, now: Duration, task: TaskId, nodes: u64) -> bool {
        let Some(lease) = self.leases.get_mut(&task) else {
            return false;
        };
        if nodes > lease.nodes {
            self.meter.nodes = self.meter.nodes.saturating_add(nodes - lease.nodes);
            (lease.nodes, lease.progressed) = (nodes, now);
        }
        true
    }

    /// Records an answer with its total of positions; returns the search speed, if it can be
    /// measured.
    pub(crate) fn succeed(&mut self, now: Duration, task: TaskId, nodes: u64) -> Option<u64> {
        let lease = self.leases.remove(&task);
        let counted = lease.map_or(0, |lease| lease.nodes);
        self.meter.nodes = self
            .meter
            .nodes
            .saturating_add(nodes.saturating_sub(counted));
        self.failures_in_row = 0;
        self.paused_until = None;
        self.done += 1;
        lease.and_then(|lease| self.speed.learn(nodes, now.saturating_sub(lease.began)))
    }

    pub(crate) fn take(&mut self, task: TaskId, lease: Lease) {
        self.sequence = self.sequence.max(lease.sequence);
        self.leases.insert(task, lease);
    }

    /// Sets the time to the next check of a task's progress, or none.
    pub(crate) fn allow(&mut self, task: TaskId, allowance: Option<Duration>) {
        self.leases
            .entry(task)
            .and_modify(|lease| lease.allowance = allowance);
    }

    /// Records a failure. After several in a row the worker pauses, twice as long each time.
    pub(crate) fn fail(&mut self, now: Duration) {
        self.failures_in_row += 1;
        if let Some(doublings) = self.failures_in_row.checked_sub(FAILURES_BEFORE_PAUSE) {
            let pause = Duration::from_secs(1 << doublings.min(MAX_PAUSE_DOUBLINGS));
            self.paused_until = Some(now.saturating_add(pause));
        }
    }

    pub(crate) fn drop_lease(&mut self, task: TaskId) {
        self.leases.remove(&task);
    }

    pub(crate) fn lease(&self, task: TaskId) -> Option<&Lease> {
        self.leases.get(&task)
    }

    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        self.leases.keys().copied().collect()
    }

    pub(crate) fn load(&self) -> u32 {
        self.leases.len() as u32
    }

    /// Returns how many slots it may use; only one while it has failures since its last success.
    pub(crate) fn usable_slots(&self) -> u32 {
        match self.failures_in_row {
            _ if self.is_silent || self.is_draining || self.suspension.is_some() => 0,
            _ if self.paused_until.is_some() => 0,
            0 => self.slots,
            _ => self.slots.min(1),
        }
    }

    /// Sets or clears the suspension. An unchanged suspension keeps its start.
    pub(crate) fn set_suspension(&mut self, now: Duration, suspension: Option<Suspension>) {
        if self.suspension.map(|(suspension, _)| suspension) != suspension {
            self.suspension = suspension.map(|suspension| (suspension, now));
        }
    }

    /// Whether it is suspended for this reason.
    pub(crate) fn is_suspended_for(&self, suspension: Suspension) -> bool {
        self.suspension.is_some_and(|(why, _)| why == suspension)
    }

    /// Whether it gets tasks, or is qualifying and still within `exam`.
    pub(crate) fn is_expected(&self, now: Duration, exam: Duration) -> bool {
        let is_examined = match self.suspension {
            Some((Suspension::Qualification, since)) => now < since.saturating_add(exam),
            _ => false,
        };
        self.usable_slots() > 0
            || is_examined && self.slots > 0 && !self.is_silent && !self.is_draining
    }

    /// Returns how many tasks it may hold, queued ones included.
    pub(crate) fn usable_queue(&self, prefetch: u32) -> u32 {
        let slots = self.usable_slots();
        if slots == 0 || self.failures_in_row > 0 {
            slots
        } else {
            slots.saturating_add(prefetch)
        }
    }

    /// Whether it plays the variant.
    pub(crate) fn has(&self, variant: Variant) -> bool {
        self.plays
            .as_ref()
            .is_none_or(|plays| plays.contains(&variant))
    }

    /// Whether it gets tasks and has no failure since its last success.
    pub(crate) fn is_sound(&self) -> bool {
        self.usable_slots() > 0 && self.failures_in_row == 0
    }

    /// Returns the tasks in running order: begun ones, then by priority, then by assignment.
    fn in_order(&self) -> Vec<TaskId> {
        let mut order: Vec<_> = self
            .leases
            .iter()
            .map(|(task, lease)| (lease.nodes == 0, lease.priority, lease.sequence, *task))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(.., task)| task).collect()
    }

    /// Returns the tasks that cannot have begun, because others take all slots.
    fn queued(&self) -> Vec<TaskId> {
        if self.leases.len() <= self.slots as usize {
            return Vec::new();
        }
        self.in_order().split_off(self.slots as usize)
    }

    /// Returns how many tasks can be taken from it without losing work.
    pub(crate) fn surplus(&self) -> u32 {
        let begun = self.leases.values().filter(|lease| lease.nodes > 0).count() as u32;
        self.load() - self.load().min(self.slots.max(begun))
    }

    /// Returns the task that it would begin last, if it can be taken.
    pub(crate) fn last_queued(&self) -> Option<TaskId> {
        if self.surplus() > 0 {
            self.in_order().pop()
        } else {
            None
        }
    }

    /// Returns running tasks that have made no progress for the length of the timeout.
    pub(crate) fn stalled(&self, now: Duration, stall_timeout: Duration) -> Vec<TaskId> {
        let is_stalled =
            |task: &TaskId| self.leases[task].progressed.saturating_add(stall_timeout) <= now;
        self.running().into_iter().filter(is_stalled).collect()
    }

    /// Returns running tasks whose progress check is due.
    pub(crate) fn overdue(&self, now: Duration) -> Vec<TaskId> {
        let is_due = |task: &TaskId| self.leases[task].due().is_some_and(|due| due <= now);
        self.running().into_iter().filter(is_due).collect()
    }

    pub(crate) fn is_overdue(&self, now: Duration, lease: Duration) -> bool {
        !self.is_silent && self.last_seen.saturating_add(lease) <= now
    }

    /// Returns when to check the worker if it gives no sign before.
    pub(crate) fn alarm(&self, options: &Options) -> Option<Duration> {
        if self.is_silent {
            return None;
        }
        let stalls = self.running().into_iter().map(|task| {
            self.leases[&task]
                .progressed
                .saturating_add(options.stall_timeout)
        });
        let dues = self
            .running()
            .into_iter()
            .filter_map(|task| self.leases[&task].due());
        stalls
            .chain(dues)
            .chain(self.paused_until)
            .chain([self.last_seen.saturating_add(options.lease)])
            .min()
    }

    fn running(&self) -> Vec<TaskId> {
        let mut order = self.in_order();
        order.truncate(self.slots as usize);
        order
    }

    /// Returns its public state; `waits` classifies the waiting tasks.
    pub(crate) fn status(&self, id: WorkerId, waits: Option<WaitingTasks>) -> WorkerStatus {
        WorkerStatus {
            id,
            slots: self.slots,
            tasks: self.tasks(),
            done: self.done,
            speed: self.meter.speed,
            last_seen: self.last_seen,
            idle: if self.load() < self.slots {
                Some(self.why_idle(waits))
            } else {
                None
            },
        }
    }

    fn why_idle(&self, waits: Option<WaitingTasks>) -> Idle {
        match () {
            () if self.is_silent => Idle::Silent,
            () if self.is_draining => Idle::Draining,
            () if self.is_suspended_for(Suspension::Qualification) => Idle::Qualifying,
            () if self.is_suspended_for(Suspension::Quarantine) => Idle::Quarantined,
            () if self.load() >= self.usable_slots() => Idle::Probation,
            () => waits.map_or(Idle::NoTasks, |waits| match waits {
                WaitingTasks::Playable => Idle::Avoided,
                WaitingTasks::Foreign => Idle::UnsupportedVariant,
            }),
        }
    }
}

/// Positions a second, smoothed over a few readings.
#[derive(Debug)]
struct SpeedMeter {
    since: Duration,
    nodes: u64,
    speed: u64,
}

impl SpeedMeter {
    const SHORTEST: Duration = Duration::from_secs(1);

    fn read(&mut self, now: Duration) {
        let span = now.saturating_sub(self.since);
        if span < Self::SHORTEST {
            return;
        }
        let speed = u128::from(self.nodes) * 1_000_000 / span.as_micros();
        let speed = u64::try_from(speed).unwrap_or(u64::MAX);
        self.speed = if self.speed == 0 {
            speed
        } else {
            self.speed - self.speed / 4 + speed / 4
        };
        (self.since, self.nodes) = (now, 0);
    }
}
