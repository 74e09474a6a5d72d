use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::inquiry::Inquiry;
use crate::{Effect, QuestionId, Scheduler, Split, WorkerId};

/// Why a worker gets no tasks although it asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// It has yet to show that its answers are right. It keeps what it has.
    Exam,
    /// Its answers were wrong.
    Quarantine,
}

/// Who is believed, and who is asked to make sure.
impl Scheduler {
    /// Gives a worker no tasks any more, or (`None`) lets it have some again. Who is quarantined loses what it has, and what
    /// it reports from then on is for the caller to keep out. Harmless for a worker that is not there.
    pub fn bar(&mut self, now: Duration, worker: WorkerId, bar: Option<Bar>) {
        self.advance(now);
        self.roster.with(worker, |w| w.bar = bar);
        if bar == Some(Bar::Quarantine) {
            for task in self.tasks_of(worker) {
                self.take_back(worker, task);
                self.effects.push_back(Effect::Revoke { worker, task });
            }
        }
        self.hand_out();
    }

    /// Hands out nothing any more, for good; what is handed out may be reported.
    pub fn retire(&mut self) {
        self.is_retired = true;
    }

    /// Asks a question whole, of anybody but these. It waits as long as there is nobody else.
    pub fn submit_to_others(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        but: Vec<WorkerId>,
    ) -> QuestionId {
        self.advance(now);
        let id = QuestionId(self.fresh_id());
        self.inquiries.insert(id, Inquiry::new(question.clone(), Answer::new(), Split::Never, priority));
        let task = self.add_part(id, question, priority);
        self.parts.entry(task).and_modify(|part| part.barred = but);
        self.hand_out();
        id
    }

    /// Whether there is somebody who gets tasks and plays the variant, and is none of these. Looks at every worker.
    #[must_use]
    pub fn has_others(&self, variant: Variant, but: &[WorkerId]) -> bool {
        self.roster.iter().any(|(id, w)| w.slot_limit() > 0 && w.has(variant) && !but.contains(&id))
    }
}
