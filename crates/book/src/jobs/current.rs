use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::id::Id;
use crate::error::{BookError, JobError};
use crate::jobs::winning_moves::WinningMoves;
use crate::settings::job::{JobId, JobSpec};
use crate::settings::policies::selection::Selection;

/// The part of the jobs that is kept in memory while the book is open.
#[derive(Default)]
pub(crate) struct Jobs {
    /// The works that are at hand, by job and position, so that none is handed out twice.
    pub(crate) at_hand: BTreeSet<(JobId, Id)>,
    /// The settings of the jobs: they are long, and every answer needs them.
    pub(crate) specs: Arc<BTreeMap<JobId, JobSpec>>,
    /// Jobs that changed since [`Book::changed_jobs`](crate::Book::changed_jobs) was last called.
    pub(crate) changed: BTreeSet<JobId>,
    /// The choice of positions of each job that was asked for work.
    pub(crate) selections: BTreeMap<JobId, Box<dyn Selection>>,
    /// Moves that won elsewhere, once a job that looks for a proof has asked for them.
    pub(crate) winning_moves: Option<WinningMoves>,
    /// Positions proven since the table was last completed.
    pub(crate) new_proofs: Vec<Id>,
}

impl Jobs {
    /// Returns the definition of a job without later changes.
    pub(crate) fn spec(&self, id: JobId) -> Result<&JobSpec, BookError> {
        let unknown = || JobError::Unknown(id.0.to_string()).into();
        self.specs.get(&id).ok_or_else(unknown)
    }

    /// Returns the job of this name.
    pub(crate) fn named(&self, name: &str) -> Option<JobId> {
        let mut all = self.specs.iter();
        all.find(|(_, spec)| spec.name == name).map(|(id, _)| *id)
    }
}
