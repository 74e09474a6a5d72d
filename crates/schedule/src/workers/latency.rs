use alloc::collections::BTreeMap;
use core::time::Duration;

use kagetsu_game::{Question, Variant};

use crate::Options;

/// Number of distinct task kinds.
const MAX_TASK_KINDS: usize = 1_024;
/// A worker's speed counts as at least the usual speed divided by this.
const MAX_SLOWDOWN: u64 = 16;
/// A search is too slow if it visits less than the expected positions divided by this.
const TOO_SLOW_FACTOR: u64 = 4;

/// Positions a second of one slot while it searches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchSpeed {
    value: u64,
    /// Positions of searches that were too short to be measured one by one.
    nodes: u64,
    span: Duration,
}

impl SearchSpeed {
    const SHORTEST: Duration = Duration::from_millis(100);

    /// Records a search, and returns its speed once the measured time is long enough.
    pub(crate) fn learn(&mut self, nodes: u64, span: Duration) -> Option<u64> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.span = self.span.saturating_add(span);
        if self.span < Self::SHORTEST {
            return None;
        }
        let speed = u64::try_from(u128::from(self.nodes) * 1_000_000 / self.span.as_micros())
            .unwrap_or(u64::MAX);
        self.value = if self.value == 0 {
            speed
        } else {
            self.value - self.value / 4 + speed / 4
        };
        (self.nodes, self.span) = (0, Duration::ZERO);
        Some(speed)
    }

    /// Returns the expected speed, given the `usual` speed of a slot in the cluster; 0 if unknown.
    pub(crate) fn among(self, usual: u64) -> u64 {
        if self.value == 0 {
            usual
        } else {
            self.value.max(usual / MAX_SLOWDOWN)
        }
    }
}

/// Whether a search of this length is far behind this speed.
pub(crate) fn is_too_slow(nodes: u64, speed: u64, span: Duration) -> bool {
    u128::from(nodes) * u128::from(TOO_SLOW_FACTOR) * 1_000_000
        < u128::from(speed) * span.as_micros()
}

/// Tasks that take about as long as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaskKind {
    variant: Variant,
    depth: Option<u8>,
    /// Whether the task asks about some of the moves only.
    is_partial: bool,
}

impl TaskKind {
    fn of(ask: &Question) -> Self {
        Self {
            variant: ask.position.variant(),
            depth: ask.effort.depth,
            is_partial: !ask.moves.is_empty(),
        }
    }
}

/// Estimates of search effort: the largest recent number of positions for each kind of task.
#[derive(Debug, Default)]
pub(crate) struct LatencyEstimate {
    most: BTreeMap<TaskKind, u64>,
    /// Recent positions a second of a slot, averaged over all workers; 0 while unknown.
    pub(crate) usual: u64,
}

impl LatencyEstimate {
    /// Records the positions visited for a task.
    pub(crate) fn learn(&mut self, ask: &Question, nodes: u64) {
        let kind = TaskKind::of(ask);
        if self.most.len() >= MAX_TASK_KINDS && !self.most.contains_key(&kind) {
            self.most.pop_first();
        }
        let most = self.most.entry(kind).or_default();
        *most = nodes.max(*most - *most / 64);
    }

    /// Records the speed of one search.
    pub(crate) fn notice(&mut self, speed: u64) {
        self.usual = if self.usual == 0 {
            speed
        } else {
            self.usual - self.usual / 16 + speed / 16
        };
    }

    /// Returns how long a task may run at this speed before its progress is checked; `None` if no
    /// estimate exists.
    pub(crate) fn allowance(
        &self,
        ask: &Question,
        speed: u64,
        options: &Options,
    ) -> Option<Duration> {
        let known = self.most.get(&TaskKind::of(ask)).copied();
        let nodes = known
            .into_iter()
            .chain(ask.effort.nodes)
            .min()
            .filter(|_| speed > 0);
        let search = nodes.map(|nodes| {
            let micros = u128::from(nodes) * 1_000_000 / u128::from(speed);
            Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
        });
        let longest = search.into_iter().chain(ask.effort.time).min();
        // A task without an estimate is expected to take one lease.
        let longest = longest.unwrap_or(options.lease);
        let patience = longest.saturating_mul(options.overdue_factor);
        Some(options.lease.saturating_add(patience))
    }
}
