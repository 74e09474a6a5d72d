use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Answer;
use kagetsu_schedule::{QuestionId, WorkerId};

use crate::check::Check;
use crate::worker::{Principal, WorkerRecord};
use crate::{CheckId, Decision, Ticket};

/// Settings of a [`Verification`].
#[derive(Clone, Debug)]
pub struct VerificationOptions {
    /// Whether every answer is accepted as it is: the workers run in the coordinator's process.
    pub trusts_all: bool,
    /// Answers in a million that are asked again.
    pub share: u32,
    /// Seed of the choice of these answers; workers must not know it.
    pub seed: u64,
    /// Name and version of the coordinator's own engine.
    pub own_engine: Arc<str>,
    /// Whether the coordinator searches surakarta with end tables, which its workers may lack.
    pub has_end_tables: bool,
    /// Checks wait so long for a worker that answers its calibration questions; default 2 min.
    pub calibration_timeout: Duration,
    /// Tasks that a worker may fail one after another before it is quarantined; default 16.
    pub max_failures_in_a_row: u32,
}

impl VerificationOptions {
    /// Settings with the share in percent and the defaults for the rest.
    #[must_use]
    pub fn new(share_percent: f64, seed: u64, own_engine: &str) -> Self {
        let per_million = share_percent.clamp(0.0, 100.0) * 1e4;
        Self {
            trusts_all: false,
            share: (per_million + 0.5) as u32,
            seed,
            own_engine: own_engine.into(),
            has_end_tables: false,
            calibration_timeout: Duration::from_secs(120),
            max_failures_in_a_row: 16,
        }
    }
}

/// An answer whose claims are being replayed.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) ticket: Ticket,
    pub(crate) answer: Answer,
    pub(crate) by: Vec<WorkerId>,
}

/// The state machine. After every call, drain [`Verification::poll`].
///
/// Every answered question ends in exactly one [`Decision::Accept`] or [`Decision::Reject`]. At
/// most [`MAX_REPLAYS`](Self::MAX_REPLAYS) replays and [`MAX_SEARCHES`](Self::MAX_SEARCHES)
/// searches are given out at a time.
#[derive(Debug)]
pub struct Verification {
    pub(crate) options: VerificationOptions,
    pub(crate) records: BTreeMap<WorkerId, WorkerRecord>,
    pub(crate) pending: BTreeMap<QuestionId, Pending>,
    pub(crate) checks: BTreeMap<CheckId, Check>,
    /// Checks that wait for the coordinator's own engine, in order, and those that it was given.
    pub(crate) unsearched: VecDeque<CheckId>,
    pub(crate) searching: BTreeSet<CheckId>,
    pub(crate) next_check: u64,
    pub(crate) effects: VecDeque<Decision>,
    pub(crate) quarantines: u64,
    /// How far the claims of each owner are doubted; see `Verification::doubt`.
    pub(crate) doubts: BTreeMap<Principal, i32>,
}

impl Verification {
    /// A machine that knows no worker.
    #[must_use]
    pub fn new(options: VerificationOptions) -> Self {
        Self {
            options,
            records: BTreeMap::new(),
            pending: BTreeMap::new(),
            checks: BTreeMap::new(),
            unsearched: VecDeque::new(),
            searching: BTreeSet::new(),
            next_check: 0,
            effects: VecDeque::new(),
            quarantines: 0,
            doubts: BTreeMap::new(),
        }
    }

    /// Returns the next instruction, in order; `None` when all are done.
    pub fn poll(&mut self) -> Option<Decision> {
        self.effects.pop_front()
    }

    /// Returns how many answers wait for their checks. They are neither accepted nor rejected.
    #[must_use]
    pub fn held_answers(&self) -> usize {
        let held = |check: &&Check| check.held.is_some();
        self.checks.values().filter(held).count()
    }

    /// Looks for checks that no worker can answer any more. Call it now and then: a worker that
    /// does not finish its calibration counts for a while only.
    pub fn tick(&mut self, now: Duration) {
        let stranded: Vec<CheckId> = self
            .checks
            .iter()
            .filter(|(_, check)| !self.has_confirmer(now, check))
            .map(|(id, _)| *id)
            .collect();
        for id in stranded {
            self.effects.push_back(Decision::Withdraw { check: id });
            if let Some(check) = self.checks.remove(&id) {
                self.search_or_drop(check);
            }
        }
    }
}
