use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::questions::QuestionState;
use crate::{QuestionId, Scheduler, Split, WorkerId};

/// Eligibility: tasks that exclude workers.
impl Scheduler {
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
    ) -> QuestionId {
        let state = QuestionState::new(question.clone(), Answer::new(), Split::Never, priority);
        let id = self.open(now, state);
        let task = self.add_task(id, question, priority);
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
