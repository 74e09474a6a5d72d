use core::time::Duration;

use kagetsu_game::Question;

use crate::{QuestionId, Scheduler, WorkerId};

/// Tasks that a worker has from before this scheduler was created.
impl<P> Scheduler<P> {
    /// Accepts a question that a worker is already working on or has answered, and assigns it to
    /// that worker regardless of its load. The question is never split; otherwise it is as if
    /// [submitted](Self::submit).
    pub fn resume(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        worker: WorkerId,
        payload: P,
    ) -> QuestionId {
        let (id, task) = self.open_unsplit(now, question, priority, payload);
        if self.roster.get(worker).is_some() {
            self.assign(worker, task);
        }
        self.assign_waiting();
        id
    }

    /// Assigns a waiting or running question to one more worker that has it from before; the first
    /// answer counts. Returns whether it did: not if the question is split, answered or unknown.
    pub fn also_assign(&mut self, now: Duration, id: QuestionId, worker: WorkerId) -> bool {
        self.advance(now);
        let Some(&[task]) = self
            .questions
            .get(&id)
            .map(|question_state| &question_state.tasks[..])
        else {
            return false;
        };
        let is_open = self
            .tasks
            .get(&task)
            .is_some_and(|state| state.answered.is_none());
        let may = is_open
            && self
                .roster
                .get(worker)
                .is_some_and(|w| w.lease(task).is_none());
        if may {
            self.assign(worker, task);
        }
        may
    }
}
