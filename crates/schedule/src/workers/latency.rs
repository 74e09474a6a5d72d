use alloc::collections::BTreeMap;
use core::time::Duration;

use kagetsu_game::{Question, Variant};

use crate::Options;

/// Kinds of task that are told apart.
const MOST_KINDS: usize = 1_024;
/// A worker is taken to be no slower than the others by more than this, however slow it has been.
const SLOWEST: u64 = 16;
/// Who has visited less than this part of what it should have is behind.
const BEHIND: u64 = 4;

/// Positions a second of one slot while it searches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    value: u64,
    /// Of searches that were too short to be measured each.
    nodes: u64,
    span: Duration,
}

impl Pace {
    const SHORTEST: Duration = Duration::from_millis(100);

    /// A search has visited so many positions in so long; the pace, where that is long enough to tell.
    pub(crate) fn learn(&mut self, nodes: u64, span: Duration) -> Option<u64> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.span = self.span.saturating_add(span);
        if self.span < Self::SHORTEST {
            return None;
        }
        let pace = u64::try_from(u128::from(self.nodes) * 1_000_000 / self.span.as_micros())
            .unwrap_or(u64::MAX);
        self.value = if self.value == 0 {
            pace
        } else {
            self.value - self.value / 4 + pace / 4
        };
        (self.nodes, self.span) = (0, Duration::ZERO);
        Some(pace)
    }

    /// What is to be expected of it, where a slot of the cluster has `usual`; 0 where nobody knows.
    pub(crate) fn among(self, usual: u64) -> u64 {
        if self.value == 0 {
            usual
        } else {
            self.value.max(usual / SLOWEST)
        }
    }
}

/// Whether a search at this pace should have visited more positions in so long.
pub(crate) fn is_behind(nodes: u64, pace: u64, span: Duration) -> bool {
    u128::from(nodes) * u128::from(BEHIND) * 1_000_000 < u128::from(pace) * span.as_micros()
}

/// Tasks that take about as long as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    variant: Variant,
    depth: Option<u8>,
    /// Whether only some of the moves are asked about.
    is_partial: bool,
}

impl Kind {
    fn of(ask: &Question) -> Self {
        Self {
            variant: ask.position.variant(),
            depth: ask.effort.depth,
            is_partial: !ask.moves.is_empty(),
        }
    }
}

/// What tasks have taken: the most positions of each kind, of late.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    most: BTreeMap<Kind, u64>,
    /// Positions a second of a slot, over the last searches of all workers; 0 until it is known.
    pub(crate) usual: u64,
}

impl Forecast {
    /// A task has taken so many positions.
    pub(crate) fn learn(&mut self, ask: &Question, nodes: u64) {
        let kind = Kind::of(ask);
        if self.most.len() >= MOST_KINDS && !self.most.contains_key(&kind) {
            self.most.pop_first();
        }
        let most = self.most.entry(kind).or_default();
        *most = nodes.max(*most - *most / 64);
    }

    /// A search of some worker went at this pace.
    pub(crate) fn notice(&mut self, pace: u64) {
        self.usual = if self.usual == 0 {
            pace
        } else {
            self.usual - self.usual / 16 + pace / 16
        };
    }

    /// How long a task may take a slot of this pace before somebody looks how it gets on; `None` where nothing is known.
    pub(crate) fn allowance(
        &self,
        ask: &Question,
        pace: u64,
        options: &Options,
    ) -> Option<Duration> {
        let known = self.most.get(&Kind::of(ask)).copied();
        let nodes = known
            .into_iter()
            .chain(ask.effort.nodes)
            .min()
            .filter(|_| pace > 0);
        let search = nodes.map(|nodes| {
            let micros = u128::from(nodes) * 1_000_000 / u128::from(pace);
            Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
        });
        let longest = search.into_iter().chain(ask.effort.time).min()?;
        Some(
            options
                .lease
                .saturating_add(longest.saturating_mul(options.overdue_factor)),
        )
    }
}
