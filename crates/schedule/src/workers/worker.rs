use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Variant;

use crate::workers::Pace;
use crate::{Capacity, Idle, Options, Suspension, TaskId, WorkerId, WorkerStatus};

/// One worker as the scheduler sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) slots: u32,
    /// The variants that it can be asked about; `None`: all.
    pub(crate) plays: Option<Arc<BTreeSet<Variant>>>,
    /// When it last was given a task, in assignments; who waits longest is next.
    pub(crate) turn: u64,
    pub(crate) is_silent: bool,
    pub(crate) is_draining: bool,
    /// Why it gets no tasks, if it gets none, and since when.
    pub(crate) bar: Option<(Suspension, Duration)>,
    /// Failures since its last success.
    pub(crate) strikes: u32,
    pub(crate) done: u64,
    held: BTreeMap<TaskId, Hold>,
    last_seen: Duration,
    meter: Meter,
    pub(crate) pace: Pace,
}

/// What waits, as one worker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Some of it is of a variant that it plays.
    Playable,
    /// Nothing of it is.
    Foreign,
}

/// A task in a worker's hands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) attempt: u32,
    pub(crate) priority: u64,
    /// When it was assigned, in assignments.
    pub(crate) turn: u64,
    /// Positions visited, as last heard; 0 until it is begun.
    pub(crate) nodes: u64,
    /// When it last got on, or last had a reason not to.
    pub(crate) progressed: Duration,
    /// When it was assigned, or last known to wait in the queue.
    pub(crate) began: Duration,
    /// How long after that somebody looks how it gets on, if ever.
    pub(crate) allowance: Option<Duration>,
}

impl Hold {
    /// Fresh in the worker's hands.
    pub(crate) const fn new(
        attempt: u32,
        priority: u64,
        turn: u64,
        now: Duration,
        allowance: Option<Duration>,
    ) -> Self {
        Self {
            attempt,
            priority,
            turn,
            nodes: 0,
            progressed: now,
            began: now,
            allowance,
        }
    }

    /// When somebody is to look how it gets on.
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
            turn: 0,
            is_silent: false,
            is_draining: false,
            bar: None,
            strikes: 0,
            done: 0,
            held: BTreeMap::new(),
            last_seen: now,
            meter: Meter {
                since: now,
                nodes: 0,
                speed: 0,
            },
            pace: Pace::default(),
        }
    }

    /// It is alive. What is queued behind other tasks has not stood still by its own fault.
    pub(crate) fn sign(&mut self, now: Duration) {
        self.last_seen = now;
        self.is_silent = false;
        self.meter.read(now);
        for task in self.queued() {
            self.held
                .entry(task)
                .and_modify(|hold| (hold.progressed, hold.began) = (now, now));
        }
    }

    /// What it says of a task at hand; whether it is one.
    pub(crate) fn progress(&mut self, now: Duration, task: TaskId, nodes: u64) -> bool {
        let Some(hold) = self.held.get_mut(&task) else {
            return false;
        };
        if nodes > hold.nodes {
            self.meter.nodes = self.meter.nodes.saturating_add(nodes - hold.nodes);
            (hold.nodes, hold.progressed) = (nodes, now);
        }
        true
    }

    /// A task is answered, with so many positions in all; the pace of it, where that can be told.
    pub(crate) fn succeed(&mut self, now: Duration, task: TaskId, nodes: u64) -> Option<u64> {
        let hold = self.held.remove(&task);
        let counted = hold.map_or(0, |hold| hold.nodes);
        self.meter.nodes = self
            .meter
            .nodes
            .saturating_add(nodes.saturating_sub(counted));
        self.strikes = 0;
        self.done += 1;
        hold.and_then(|hold| self.pace.learn(nodes, now.saturating_sub(hold.began)))
    }

    pub(crate) fn take(&mut self, task: TaskId, hold: Hold) {
        self.turn = self.turn.max(hold.turn);
        self.held.insert(task, hold);
    }

    /// Looks at a task again after so long, or never.
    pub(crate) fn allow(&mut self, task: TaskId, allowance: Option<Duration>) {
        self.held
            .entry(task)
            .and_modify(|hold| hold.allowance = allowance);
    }

    pub(crate) fn drop_task(&mut self, task: TaskId) {
        self.held.remove(&task);
    }

    pub(crate) fn hold(&self, task: TaskId) -> Option<&Hold> {
        self.held.get(&task)
    }

    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        self.held.keys().copied().collect()
    }

    pub(crate) fn load(&self) -> u32 {
        self.held.len() as u32
    }

    /// Slots that it may fill; a worker that failed shows first that it can.
    pub(crate) fn slot_limit(&self) -> u32 {
        match self.strikes {
            _ if self.is_silent || self.is_draining || self.bar.is_some() => 0,
            0 => self.slots,
            _ => self.slots.min(1),
        }
    }

    /// It gets no tasks any more, or gets some again. A bar that is there already stands since it was put.
    pub(crate) fn set_bar(&mut self, now: Duration, bar: Option<Suspension>) {
        if self.bar.map(|(bar, _)| bar) != bar {
            self.bar = bar.map(|bar| (bar, now));
        }
    }

    /// Whether this is why it gets no tasks.
    pub(crate) fn is_barred(&self, bar: Suspension) -> bool {
        self.bar.is_some_and(|(why, _)| why == bar)
    }

    /// Whether it gets tasks, or will when it has passed an exam for which it has so long.
    pub(crate) fn is_expected(&self, now: Duration, exam: Duration) -> bool {
        let is_examined = match self.bar {
            Some((Suspension::Qualification, since)) => now < since.saturating_add(exam),
            _ => false,
        };
        self.slot_limit() > 0
            || is_examined && self.slots > 0 && !self.is_silent && !self.is_draining
    }

    /// Tasks that it may hold, queued ones included.
    pub(crate) fn queue_limit(&self, prefetch: u32) -> u32 {
        let slots = self.slot_limit();
        if slots == 0 || self.strikes > 0 {
            slots
        } else {
            slots.saturating_add(prefetch)
        }
    }

    /// Whether it can be asked about the variant.
    pub(crate) fn has(&self, variant: Variant) -> bool {
        self.plays
            .as_ref()
            .is_none_or(|plays| plays.contains(&variant))
    }

    /// Whether it would do well whatever it is given.
    pub(crate) fn is_sound(&self) -> bool {
        self.slot_limit() > 0 && self.strikes == 0
    }

    /// The tasks in the order in which it runs them: begun ones, then the most urgent, then the first assigned.
    fn in_order(&self) -> Vec<TaskId> {
        let mut order: Vec<_> = self
            .held
            .iter()
            .map(|(task, hold)| (hold.nodes == 0, hold.priority, hold.turn, *task))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(.., task)| task).collect()
    }

    /// What it cannot have begun: all its slots are taken by others.
    fn queued(&self) -> Vec<TaskId> {
        if self.held.len() <= self.slots as usize {
            return Vec::new();
        }
        self.in_order().split_off(self.slots as usize)
    }

    /// How many tasks could be taken from it without loss.
    pub(crate) fn surplus(&self) -> u32 {
        let begun = self.held.values().filter(|hold| hold.nodes > 0).count() as u32;
        self.load() - self.load().min(self.slots.max(begun))
    }

    /// The task that it would come to last.
    pub(crate) fn last_queued(&self) -> Option<TaskId> {
        if self.surplus() > 0 {
            self.in_order().pop()
        } else {
            None
        }
    }

    /// Tasks that do not get on.
    pub(crate) fn stalled(&self, now: Duration, stall_timeout: Duration) -> Vec<TaskId> {
        let is_stalled =
            |task: &TaskId| self.held[task].progressed.saturating_add(stall_timeout) <= now;
        self.running().into_iter().filter(is_stalled).collect()
    }

    /// Tasks that should be done.
    pub(crate) fn overdue(&self, now: Duration) -> Vec<TaskId> {
        let is_due = |task: &TaskId| self.held[task].due().is_some_and(|due| due <= now);
        self.running().into_iter().filter(is_due).collect()
    }

    pub(crate) fn is_overdue(&self, now: Duration, lease: Duration) -> bool {
        !self.is_silent && self.last_seen.saturating_add(lease) <= now
    }

    /// When to look after it, if it is not heard of before.
    pub(crate) fn alarm(&self, options: &Options) -> Option<Duration> {
        if self.is_silent {
            return None;
        }
        let stalls = self.running().into_iter().map(|task| {
            self.held[&task]
                .progressed
                .saturating_add(options.stall_timeout)
        });
        let dues = self
            .running()
            .into_iter()
            .filter_map(|task| self.held[&task].due());
        stalls
            .chain(dues)
            .chain([self.last_seen.saturating_add(options.lease)])
            .min()
    }

    fn running(&self) -> Vec<TaskId> {
        let mut order = self.in_order();
        order.truncate(self.slots as usize);
        order
    }

    /// What the world may know; `waits`: the tasks that nobody has.
    pub(crate) fn status(&self, id: WorkerId, waits: Option<Waits>) -> WorkerStatus {
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

    fn why_idle(&self, waits: Option<Waits>) -> Idle {
        match () {
            () if self.is_silent => Idle::Silent,
            () if self.is_draining => Idle::Draining,
            () if self.is_barred(Suspension::Qualification) => Idle::Qualifying,
            () if self.is_barred(Suspension::Quarantine) => Idle::Quarantined,
            () if self.load() >= self.slot_limit() => Idle::Probation,
            () => waits.map_or(Idle::NoTasks, |waits| match waits {
                Waits::Playable => Idle::Avoided,
                Waits::Foreign => Idle::UnsupportedVariant,
            }),
        }
    }
}

/// Positions a second, smoothed over a few readings.
#[derive(Debug)]
struct Meter {
    since: Duration,
    nodes: u64,
    speed: u64,
}

impl Meter {
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
