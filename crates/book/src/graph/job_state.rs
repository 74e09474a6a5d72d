use serde::{Deserialize, Serialize};

use crate::settings::job::{JobChange, JobState};

/// The progress of a job. Its definition is stored apart: it may be long and never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobBody {
    pub(crate) state: JobState,
    pub(crate) target: u64,
    pub(crate) positions: u64,
    pub(crate) set_aside: u64,
    /// Positions that wait to be searched.
    pub(crate) frontier: u64,
    /// Known positions that it has yet to expand.
    pub(crate) walking: u64,
}

/// The limits and the priority of a job, and what it has spent since. A job whose limits were never
/// set has no such entry. It is stored apart from [`JobBody`], whose bytes are frozen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) priority: i8,
    /// Nodes after which it ends.
    pub(crate) most_nodes: Option<u64>,
    /// Nodes of its answers, counted while there is a limit.
    pub(crate) nodes: u64,
    /// Positions without a change at the roots after which it ends.
    pub(crate) stretch: Option<u64>,
    /// Its positions when a root changed last.
    pub(crate) changed_at: u64,
}

impl Account {
    fn is_spent(&self, positions: u64) -> bool {
        let is_still = |stretch| positions.saturating_sub(self.changed_at) >= stretch;
        self.most_nodes.is_some_and(|most| self.nodes >= most) || self.stretch.is_some_and(is_still)
    }
}

/// The choice at a root as it was when it changed last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) best: Option<u16>,
    pub(crate) score: i16,
}

impl Held {
    /// Centi-units within which a value is the same.
    const SAME: u16 = 10;

    pub(crate) fn is_still(self, now: Self) -> bool {
        self.best == now.best && self.score.abs_diff(now.score) <= Self::SAME
    }
}

impl JobBody {
    pub(crate) fn new(target: u64) -> Self {
        Self {
            state: JobState::Running,
            target,
            positions: 0,
            set_aside: 0,
            frontier: 0,
            walking: 0,
        }
    }

    pub(crate) fn change(&mut self, change: &JobChange) {
        match change {
            JobChange::Pause if self.state == JobState::Running => self.state = JobState::Paused,
            JobChange::Resume if matches!(self.state, JobState::Paused | JobState::Failed(_)) => {
                self.state = JobState::Running;
            }
            JobChange::Cancel => self.state = JobState::Cancelled,
            JobChange::Fail(reason) => self.state = JobState::Failed(reason.clone()),
            JobChange::Target(target) => {
                self.target = *target;
                self.reopen();
            }
            JobChange::Retry | JobChange::Limit(..) => self.reopen(),
            JobChange::Finish => self.state = JobState::Done,
            JobChange::Count(positions) => self.positions = *positions,
            JobChange::Pause | JobChange::Resume | JobChange::Priority(_) => {}
        }
    }

    /// Lets a finished job run again.
    pub(crate) fn reopen(&mut self) {
        if matches!(self.state, JobState::Done | JobState::Failed(_)) {
            self.state = JobState::Running;
        }
    }

    /// Whether a running job waits for nothing more, and lacks positions that it has set aside.
    pub(crate) fn is_starved(&self) -> bool {
        self.state == JobState::Running && self.is_exhausted() && self.set_aside > 0
    }

    fn is_exhausted(&self) -> bool {
        self.frontier == 0 && self.walking == 0
    }

    /// Ends a running job that has its positions, has spent its limits, or has nothing left to
    /// search. A job without its target fails if it has set positions aside, unless each of its
    /// roots is proven. A job that `widens` known positions may have more although nothing waits.
    pub(crate) fn settle(&mut self, account: &Account, widens: bool, is_proven: bool) {
        if self.state != JobState::Running {
            return;
        }
        if self.positions >= self.target || account.is_spent(self.positions) {
            self.state = JobState::Done;
        } else if self.is_exhausted() && !widens {
            self.state = if self.is_starved() && !is_proven {
                JobState::Failed(self.lack())
            } else {
                JobState::Done
            };
        }
    }

    fn lack(&self) -> String {
        let of = match self.target {
            u64::MAX => String::new(),
            target => format!(" of {target}"),
        };
        let aside = match self.set_aside {
            1 => "1 position could not be searched".into(),
            many => format!("{many} positions could not be searched"),
        };
        format!(
            "{aside} and no other waits, after {}{of} positions; `kagetsu jobs show` says why, and \
             `kagetsu jobs retry` tries again",
            self.positions
        )
    }
}
