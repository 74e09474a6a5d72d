use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::inquiry::Inquiry;
use crate::worker::Worker;
use crate::{Effect, QuestionId, Scheduler, Split, WorkerId};

/// Why a worker gets no tasks although it asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// It has yet to show that its answers are right. It keeps what it has, and what it reports of that is for the caller to
    /// keep out.
    Exam,
    /// Its answers were wrong.
    Quarantine,
}

/// Who is believed, and who is asked to make sure.
impl Scheduler {
    /// Gives a worker no tasks any more, or (`None`) lets it have some again. Who is quarantined loses what it has, and what
    /// it reports from then on is for the caller to keep out. Who has passed its exam is assigned once more what it has, under
    /// the same attempt: what it said of that was not heard. Harmless for a worker that is not there.
    pub fn bar(&mut self, now: Duration, worker: WorkerId, bar: Option<Bar>) {
        let now = self.advance(now);
        let before = self.roster.with(worker, |w| core::mem::replace(&mut w.bar, bar.map(|bar| (bar, now)))).flatten();
        match (before, bar) {
            (_, Some(Bar::Quarantine)) => {
                for task in self.tasks_of(worker) {
                    self.take_back(worker, task);
                    self.effects.push_back(Effect::Revoke { worker, task });
                }
            }
            (Some((Bar::Exam, _)), None) => self.remind(worker),
            _ => {}
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

    /// Whether there is somebody who plays the variant, is none of these, and gets tasks, or may when it has passed its
    /// [exam](crate::Options::exam). Looks at every worker.
    #[must_use]
    pub fn has_others(&self, variant: Variant, but: &[WorkerId]) -> bool {
        let is_expected = |w: &Worker| w.is_expected(self.now, self.options.exam);
        self.roster.iter().any(|(id, w)| w.has(variant) && !but.contains(&id) && is_expected(w))
    }

    /// Whether somebody gets tasks of the variant now.
    #[must_use]
    pub fn is_played(&self, variant: Variant) -> bool {
        self.roster.slots_for(variant).0 > 0
    }

    /// Says once more what a worker has.
    fn remind(&mut self, worker: WorkerId) {
        let Some(w) = self.roster.get(worker) else { return };
        for task in w.tasks() {
            let (Some(hold), Some(part)) = (w.hold(task), self.parts.get(&task)) else { continue };
            self.effects.push_back(Effect::Assign { worker, task: part.task(task, hold.attempt) });
        }
    }
}
