use core::time::Duration;

use kagetsu_game::{Answer, Question};

use crate::questions::Inquiry;
use crate::{QuestionId, Scheduler, Split, WorkerId};

/// What a worker has at hand from before this scheduler was made.
impl Scheduler {
    /// Takes in a question that a worker works on already, or has answered: it goes to that worker, however much it has;
    /// to another, where this one is in quarantine. It is never split; else it is as one that was [submitted](Self::submit).
    pub fn resume(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        worker: WorkerId,
    ) -> QuestionId {
        self.advance(now);
        let id = QuestionId(self.fresh_id());
        self.inquiries.insert(
            id,
            Inquiry::new(question.clone(), Answer::new(), Split::Never, priority),
        );
        let task = self.add_part(id, question, priority);
        if self.roster.get(worker).is_some() && !self.is_quarantined(worker) {
            self.assign(worker, task);
        }
        self.hand_out();
        id
    }

    /// A worker has at hand what others were asked meanwhile: it may answer as well, and the first answer counts. Whether
    /// it is so; not of a question that is split, or answered, or not known, nor of a worker in quarantine.
    pub fn also_assign(&mut self, now: Duration, id: QuestionId, worker: WorkerId) -> bool {
        self.advance(now);
        let Some(&[task]) = self.inquiries.get(&id).map(|inquiry| &inquiry.parts[..]) else {
            return false;
        };
        let is_open = self
            .parts
            .get(&task)
            .is_some_and(|part| part.answered.is_none());
        let may = is_open
            && !self.is_quarantined(worker)
            && self
                .roster
                .get(worker)
                .is_some_and(|w| w.hold(task).is_none());
        if may {
            self.assign(worker, task);
        }
        may
    }
}
