use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::questions::Inquiry;
use crate::workers::Worker;
use crate::{Effect, QuestionId, Scheduler, Split, Suspension, TaskId, WorkerId};

/// Who is believed, and who is asked to make sure.
impl Scheduler {
    /// Gives a worker no tasks any more, or (`None`) lets it have some again. Who is quarantined loses what it has, and what
    /// it reports from then on is for the caller to keep out. Harmless for a worker that is not there.
    pub fn suspend(&mut self, now: Duration, worker: WorkerId, bar: Option<Suspension>) {
        let now = self.advance(now);
        self.roster.with(worker, |w| w.set_bar(now, bar));
        if bar == Some(Suspension::Quarantine) {
            for task in self.tasks_of(worker) {
                self.take_back(worker, task);
                self.effects.push_back(Effect::Revoke { worker, task });
            }
        }
        self.hand_out();
    }

    /// Hands out nothing any more, for good; what is handed out may be reported.
    pub fn stop_assigning(&mut self) {
        self.is_retired = true;
    }

    /// Asks a question whole, of anybody but these. It waits as long as there is nobody else.
    pub fn submit_excluding(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        but: Vec<WorkerId>,
    ) -> QuestionId {
        self.advance(now);
        let id = QuestionId(self.fresh_id());
        self.inquiries.insert(
            id,
            Inquiry::new(question.clone(), Answer::new(), Split::Never, priority),
        );
        let task = self.add_part(id, question, priority);
        self.parts.entry(task).and_modify(|part| part.barred = but);
        self.hand_out();
        id
    }

    /// Whether there is somebody who plays the variant, is none of these, and gets tasks, or may when it has passed its
    /// [exam](crate::Options::qualification_timeout). Looks at every worker.
    #[must_use]
    pub fn has_other_worker(&self, variant: Variant, but: &[WorkerId]) -> bool {
        let is_expected = |w: &Worker| w.is_expected(self.now, self.options.qualification_timeout);
        self.roster
            .iter()
            .any(|(id, w)| w.has(variant) && !but.contains(&id) && is_expected(w))
    }

    /// Whether somebody gets tasks of the variant now.
    #[must_use]
    pub fn has_worker_for(&self, variant: Variant) -> bool {
        self.roster.slots_for(variant).0 > 0
    }

    /// Why a worker gets no tasks, if it is there and barred.
    #[must_use]
    pub fn suspension(&self, worker: WorkerId) -> Option<Suspension> {
        self.roster
            .get(worker)
            .and_then(|w| w.bar)
            .map(|(bar, _)| bar)
    }

    /// Whether a report of this attempt would count.
    #[must_use]
    pub fn accepts(&self, worker: WorkerId, task: TaskId, attempt: u32) -> bool {
        let part = self.parts.get(&task).filter(|part| part.answered.is_none());
        part.is_some_and(|part| part.was_given(attempt, worker))
    }
}
