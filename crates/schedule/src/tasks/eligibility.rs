use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Question, Variant};

use crate::{QuestionId, Scheduler, WorkerId};

/// Eligibility: tasks that exclude workers.
impl<P> Scheduler<P> {
    /// Stops assigning tasks for good. Running tasks may still be reported.
    pub fn stop_assigning(&mut self) {
        self.is_retired = true;
    }

    /// Submits a question, unsplit, to any trusted worker except `but`. It waits until such a
    /// worker is available.
    pub fn submit_check(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        but: Vec<WorkerId>,
        payload: P,
    ) -> QuestionId {
        let (id, task) = self.open_unsplit(now, question, priority, payload);
        self.tasks
            .entry(task)
            .and_modify(|state| (state.excluded, state.needs_trusted) = (but, true));
        self.assign_waiting();
        id
    }

    /// Whether a worker currently gets tasks of the variant.
    #[must_use]
    pub fn has_worker_for(&self, variant: Variant) -> bool {
        self.roster.slots_for(variant).0 > 0
    }
}
