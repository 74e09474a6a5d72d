use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::questions::QuestionState;
use crate::workers::Worker;
use crate::{Effect, QuestionId, Scheduler, Split, Suspension, TaskId, WorkerId};

/// Eligibility: suspension of workers, and tasks that exclude workers.
impl Scheduler {
    /// Suspends a worker, or with `None` lets it have tasks again. A quarantined worker loses its
    /// tasks, and the caller must discard its later reports. Ignores an unknown worker.
    pub fn suspend(&mut self, now: Duration, worker: WorkerId, suspension: Option<Suspension>) {
        let now = self.advance(now);
        self.roster
            .with(worker, |w| w.set_suspension(now, suspension));
        if suspension == Some(Suspension::Quarantine) {
            for task in self.tasks_of(worker) {
                self.return_task(worker, task);
                self.effects.push_back(Effect::Revoke { worker, task });
            }
        }
        self.assign_waiting();
    }

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
        self.submit_restricted(now, question, priority, but, true)
    }

    /// Submits a question, unsplit, to any worker except `but`. It waits until such a worker is
    /// available.
    pub fn submit_excluding(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        but: Vec<WorkerId>,
    ) -> QuestionId {
        self.submit_restricted(now, question, priority, but, false)
    }

    fn submit_restricted(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        but: Vec<WorkerId>,
        needs_trusted: bool,
    ) -> QuestionId {
        self.advance(now);
        let id = QuestionId(self.next_task_or_question_id());
        self.questions.insert(
            id,
            QuestionState::new(question.clone(), Answer::new(), Split::Never, priority),
        );
        let task = self.add_task(id, question, priority);
        self.tasks
            .entry(task)
            .and_modify(|state| (state.excluded, state.needs_trusted) = (but, needs_trusted));
        self.assign_waiting();
        id
    }

    /// Whether a worker outside `but` plays the variant and gets tasks, or may get them after its
    /// [qualification](crate::Options::qualification_timeout). Costs O(workers).
    #[must_use]
    pub fn has_other_worker(&self, variant: Variant, but: &[WorkerId]) -> bool {
        let is_expected = |w: &Worker| w.is_expected(self.now, self.options.qualification_timeout);
        self.roster
            .iter()
            .any(|(id, w)| w.has(variant) && !but.contains(&id) && is_expected(w))
    }

    /// Whether a worker currently gets tasks of the variant.
    #[must_use]
    pub fn has_worker_for(&self, variant: Variant) -> bool {
        self.roster.slots_for(variant).0 > 0
    }

    /// Returns why a connected worker is suspended, if it is.
    #[must_use]
    pub fn suspension(&self, worker: WorkerId) -> Option<Suspension> {
        self.roster
            .get(worker)
            .and_then(|w| w.suspension)
            .map(|(suspension, _)| suspension)
    }

    /// Whether a report of this attempt would be accepted.
    #[must_use]
    pub fn accepts(&self, worker: WorkerId, task: TaskId, attempt: u32) -> bool {
        let state = self
            .tasks
            .get(&task)
            .filter(|state| state.answered.is_none());
        state.is_some_and(|state| state.was_given(attempt, worker))
    }
}
