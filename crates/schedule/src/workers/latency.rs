use alloc::collections::BTreeMap;
use core::time::Duration;

use kagetsu_game::{Effort, Question, Variant};

use crate::Options;

/// Number of distinct task kinds.
const MAX_TASK_KINDS: usize = 1_024;
/// One answer counts as taking at most this many times the usual time.
const MAX_OUTLIER: u32 = 8;
/// Multiple of a time limit, or of a lease where nothing is known, that a task may take.
const UNMEASURED_FACTOR: u32 = 4;

/// Tasks that take about as long as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaskKind {
    variant: Variant,
    effort: (Option<u8>, Option<u64>, Option<Duration>),
    /// Whether the task asks about some of the moves only.
    is_partial: bool,
}

impl TaskKind {
    fn of(ask: &Question) -> Self {
        let Effort { depth, nodes, time } = ask.effort;
        Self {
            variant: ask.position.variant(),
            effort: (depth, nodes, time),
            is_partial: !ask.moves.is_empty(),
        }
    }
}

/// How long each kind of task takes from its start to its answer, on the clock of the scheduler.
/// A worker's own counts of positions have no part in it.
#[derive(Debug, Default)]
pub(crate) struct LatencyEstimate {
    usual: BTreeMap<TaskKind, Duration>,
}

impl LatencyEstimate {
    /// Records how long a task took, and returns how long such tasks usually take. One slow answer
    /// counts little.
    pub(crate) fn learn(&mut self, ask: &Question, took: Duration) -> Duration {
        let kind = TaskKind::of(ask);
        if self.usual.len() >= MAX_TASK_KINDS && !self.usual.contains_key(&kind) {
            self.usual.pop_first();
        }
        let usual = self.usual.entry(kind).or_insert(took);
        let most = usual.saturating_mul(MAX_OUTLIER);
        let took = took.min(most.saturating_add(Duration::from_millis(1)));
        *usual = (*usual - *usual / 16).saturating_add(took / 16);
        *usual
    }

    /// Returns how long a task may go without an answer at a worker of the usual speed, besides
    /// one lease.
    pub(crate) fn allowance(&self, ask: &Question, options: &Options) -> Duration {
        let known = self.usual.get(&TaskKind::of(ask));
        let known = known.map(|usual| usual.saturating_mul(options.overdue_factor));
        let limit = ask.effort.time;
        let limit = limit.map(|time| time.saturating_mul(UNMEASURED_FACTOR));
        let longest = known.into_iter().chain(limit).min();
        longest.unwrap_or_else(|| options.lease.saturating_mul(UNMEASURED_FACTOR))
    }
}
