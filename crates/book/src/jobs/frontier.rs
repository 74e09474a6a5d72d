use std::collections::BTreeSet;
use std::sync::Arc;

use crate::BookError;
use crate::Derived;
use crate::base::id::Id;
use crate::base::links::Reach;
use crate::base::node::Node;
use crate::graph::frontier::Frontiers;
use crate::graph::index::Index;
use crate::graph::keys::Marker;
use crate::settings::job::{JobId, JobState};
use crate::settings::policies::selection::Frontier;
use kagetsu_store::Store;

/// The frontier of one job, with the positions that are being searched.
pub(crate) struct JobFrontier<'a, 'b> {
    pub(crate) job: JobId,
    pub(crate) index: &'a mut Index<'b>,
    pub(crate) frontiers: &'a mut Frontiers,
    pub(crate) store: &'a dyn Store,
    pub(crate) marker: Marker,
    pub(crate) at_hand: &'a BTreeSet<(JobId, Id)>,
}

impl Frontier for JobFrontier<'_, '_> {
    fn node(&mut self, id: Id) -> Result<Option<Arc<Node>>, BookError> {
        self.index.node(id)
    }

    fn reach(&mut self, id: Id) -> Result<Arc<Reach>, BookError> {
        self.index.reach(id)
    }

    fn value(&mut self, id: Id) -> Result<Option<Derived>, BookError> {
        self.index.value(id)
    }

    fn max_stones(&mut self) -> Result<u16, BookError> {
        Ok(self.index.move_filter(self.job.0)?.max_stones)
    }

    fn most_urgent(&mut self, n: usize) -> Result<Vec<Id>, BookError> {
        let job = self.job.0;
        let least = self.at_hand.len() + n;
        if self.frontiers.first(job, least).is_none() {
            let jobs = self.index.jobs()?;
            let is_running = |job| {
                jobs.iter()
                    .any(|(id, body)| *id == job && body.state == JobState::Running)
            };
            self.frontiers.retain(is_running);
            self.frontiers.read(self.store, self.marker, job, least)?;
        }
        let waiting = self.frontiers.first(job, least).into_iter().flatten();
        let ids = waiting.map(|(_, id)| *id);
        let is_free = |id: &Id| !self.at_hand.contains(&(self.job, *id));
        Ok(ids.filter(is_free).take(n).collect())
    }
}
