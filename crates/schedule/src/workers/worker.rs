use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use crate::{Capacity, Idle, Options, TaskId, WorkerId, WorkerStatus};

/// Failures in a row after which a worker pauses for a second.
const FAILURES_BEFORE_PAUSE: u32 = 4;
/// The usual time of a task, in sixteenths of it.
const USUAL: u64 = 16;
/// A worker counts as at most this many times slower than usual.
const MAX_SLOWNESS: u64 = 16;
/// The longest pause is so many times doubled: about a minute.
const MAX_PAUSE_DOUBLINGS: u32 = 6;

/// One worker as the scheduler sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) capacity: Capacity,
    /// Number of its last assignment; the lowest is served next.
    pub(crate) sequence: u64,
    pub(crate) is_silent: bool,
    pub(crate) is_draining: bool,
    /// Failures since its last success.
    pub(crate) failures_in_row: u32,
    /// The end of its pause after failures.
    pub(crate) paused_until: Option<Duration>,
    pub(crate) done: u64,
    leases: BTreeMap<TaskId, Lease>,
    last_seen: Duration,
    meter: SpeedMeter,
    /// How many times longer than usual its tasks take, in sixteenths.
    slowness: u64,
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
    /// Time at which the task goes to another worker too, if ever.
    pub(crate) due: Option<Duration>,
}

impl Lease {
    /// A new lease.
    pub(crate) const fn new(
        attempt: u32,
        priority: u64,
        sequence: u64,
        now: Duration,
        due: Option<Duration>,
    ) -> Self {
        Self {
            attempt,
            priority,
            sequence,
            nodes: 0,
            progressed: now,
            began: now,
            due,
        }
    }
}

impl Worker {
    pub(crate) fn new(now: Duration, capacity: Capacity) -> Self {
        Self {
            capacity,
            sequence: 0,
            is_silent: false,
            is_draining: false,
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
            slowness: USUAL,
        }
    }

    /// Records a sign of life. Queued tasks count as having progressed, since they wait for others.
    pub(crate) fn heard_from(&mut self, now: Duration) {
        self.last_seen = now;
        self.is_silent = false;
        // No timer ran for its pause while it was silent.
        self.paused_until = self.paused_until.filter(|until| *until > now);
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

    /// Records an answer with its total of positions; returns how long the task took.
    pub(crate) fn succeed(&mut self, now: Duration, task: TaskId, nodes: u64) -> Option<Duration> {
        let lease = self.leases.remove(&task);
        let counted = lease.map_or(0, |lease| lease.nodes);
        self.meter.nodes = self
            .meter
            .nodes
            .saturating_add(nodes.saturating_sub(counted));
        self.failures_in_row = 0;
        self.paused_until = None;
        self.done += 1;
        lease.map(|lease| now.saturating_sub(lease.began))
    }

    pub(crate) fn take(&mut self, task: TaskId, lease: Lease) {
        self.sequence = self.sequence.max(lease.sequence);
        self.leases.insert(task, lease);
    }

    /// Learns how long its tasks take, where they usually take `usual`.
    pub(crate) fn compare(&mut self, took: Duration, usual: Duration) {
        let times = took.as_micros() * u128::from(USUAL) / usual.as_micros().max(1);
        let times = u64::try_from(times).unwrap_or(u64::MAX);
        let times = times.clamp(USUAL, USUAL * MAX_SLOWNESS);
        self.slowness = self.slowness - self.slowness / 4 + times / 4;
    }

    /// Returns the time that a task may take here which elsewhere may take `usual`: slow workers
    /// have longer, and queued tasks wait for those before them.
    pub(crate) fn patience(&self, usual: Duration) -> Duration {
        let before = self.load() / self.capacity.slots.max(1);
        let micros = usual.as_micros() * u128::from(self.slowness) / u128::from(USUAL);
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
            .saturating_mul(before.saturating_add(1))
    }

    /// Records that a task is overdue.
    pub(crate) fn fall_behind(&mut self, now: Duration, task: TaskId) {
        self.leases.entry(task).and_modify(|lease| lease.due = None);
        self.fail(now);
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
            _ if self.is_silent || self.is_draining => 0,
            _ if self.paused_until.is_some() => 0,
            0 => self.capacity.slots,
            _ => self.capacity.slots.min(1),
        }
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
        if self.leases.len() <= self.capacity.slots as usize {
            return Vec::new();
        }
        self.in_order().split_off(self.capacity.slots as usize)
    }

    /// Returns how many tasks can be taken from it without losing work.
    pub(crate) fn surplus(&self) -> u32 {
        let begun = self.leases.values().filter(|lease| lease.nodes > 0).count() as u32;
        self.load() - self.load().min(self.capacity.slots.max(begun))
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

    /// Returns the tasks that another worker is to have too.
    pub(crate) fn overdue(&self, now: Duration) -> Vec<TaskId> {
        let is_due = |lease: &Lease| lease.due.is_some_and(|due| due <= now);
        let due = self.leases.iter().filter(|(_, lease)| is_due(lease));
        due.map(|(task, _)| *task).collect()
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
        let dues = self.leases.values().filter_map(|lease| lease.due);
        stalls
            .chain(dues)
            .chain(self.paused_until)
            .chain([self.last_seen.saturating_add(options.lease)])
            .min()
    }

    fn running(&self) -> Vec<TaskId> {
        let mut order = self.in_order();
        order.truncate(self.capacity.slots as usize);
        order
    }

    /// Returns its public state; `passed_over` is the reason why it gets none of the waiting tasks.
    pub(crate) fn status(&self, id: WorkerId, passed_over: Idle) -> WorkerStatus {
        WorkerStatus {
            id,
            slots: self.capacity.slots,
            tasks: self.tasks(),
            done: self.done,
            speed: self.meter.speed,
            last_seen: self.last_seen,
            idle: match self.load() {
                load if load >= self.capacity.slots => None,
                _ if self.is_silent => Some(Idle::Silent),
                _ if self.is_draining => Some(Idle::Draining),
                load if load >= self.usable_slots() => Some(Idle::Probation),
                _ => Some(passed_over),
            },
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
