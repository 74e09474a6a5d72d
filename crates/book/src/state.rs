use serde::{Deserialize, Serialize};

use crate::entry::SpecBody;
use crate::job::{JobChange, JobState};

/// How far a job is, and what growing it asks of its spec; apart from the spec, which may be long and never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobBody {
    pub(crate) state: JobState,
    pub(crate) target: u64,
    pub(crate) positions: u64,
    pub(crate) set_aside: u64,
    /// Positions that wait to be searched.
    pub(crate) frontier: u64,
    /// Known positions that it has yet to walk on from.
    pub(crate) walking: u64,
    pub(crate) alpha_millis: u32,
    /// Stones beyond which nothing is followed.
    pub(crate) most_stones: u16,
}

impl JobBody {
    pub(crate) fn new(spec: &SpecBody) -> Self {
        Self {
            state: JobState::Running,
            target: spec.target,
            positions: 0,
            set_aside: 0,
            frontier: 0,
            walking: 0,
            alpha_millis: spec.alpha_millis,
            most_stones: spec.most_stones,
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
            JobChange::Retry => self.reopen(),
            JobChange::Pause | JobChange::Resume => {}
        }
    }

    /// There may be more for it to do.
    pub(crate) fn reopen(&mut self) {
        if self.state == JobState::Done {
            self.state = JobState::Running;
        }
    }

    /// A running job that has all its positions, or can have no more, is done.
    pub(crate) fn settle(&mut self) {
        let is_exhausted = self.frontier == 0 && self.walking == 0;
        if self.state == JobState::Running && (self.positions >= self.target || is_exhausted) {
            self.state = JobState::Done;
        }
    }
}
