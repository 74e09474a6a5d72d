use kagetsu_game::Answer;

use crate::{Effect, Scheduler, Split, TaskId, WorkerId};

/// What follows from a report.
impl Scheduler {
    pub(crate) fn done(&mut self, worker: WorkerId, task: TaskId, attempt: u32, answer: Answer) {
        let known = self
            .parts
            .get(&task)
            .filter(|part| part.was_given(attempt, worker));
        let Some(part) = known.filter(|part| part.answered.is_none()) else {
            self.totals.late += 1;
            if known.is_none_or(|part| part.answered != Some((worker, attempt))) {
                self.effects.push_back(Effect::Acknowledge {
                    worker,
                    task,
                    attempt,
                });
            }
            return;
        };
        match part.relevant(answer) {
            Some(answer) => self.accept(worker, task, attempt, answer),
            None => self.failed(
                worker,
                task,
                attempt,
                "the answer says nothing of the moves asked about",
            ),
        }
    }

    fn accept(&mut self, worker: WorkerId, task: TaskId, attempt: u32, answer: Answer) {
        let nodes = answer.nodes();
        let now = self.now;
        let pace = self
            .roster
            .with(worker, |w| w.succeed(now, task, nodes))
            .flatten();
        pace.into_iter().for_each(|pace| self.forecast.notice(pace));
        self.release(task, Some(worker));
        let Some(part) = self.parts.get_mut(&task) else {
            return;
        };
        part.answered = Some((worker, attempt));
        self.forecast.learn(&part.ask, nodes);
        self.waiting.remove(&(part.priority, task));
        self.totals.done += 1;
        let question = part.question;
        let Some(inquiry) = self.inquiries.get_mut(&question) else {
            return;
        };
        if inquiry.split == Split::Shared {
            self.effects.push_back(Effect::Acknowledge {
                worker,
                task,
                attempt,
            });
            return self.agree(question, worker, answer);
        }
        inquiry.learn(
            answer,
            Effect::Acknowledge {
                worker,
                task,
                attempt,
            },
        );
        if inquiry.is_finished() {
            let (answer, nodes, by) = inquiry.take_answer();
            self.totals.finished += 1;
            self.effects.push_back(Effect::Finished {
                question,
                answer,
                nodes,
                by,
            });
        } else {
            self.effects.push_back(Effect::Progress {
                question,
                answer: inquiry.answer().clone(),
            });
        }
    }

    pub(crate) fn handed_back(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        self.effects.push_back(Effect::Acknowledge {
            worker,
            task,
            attempt,
        });
        if self.is_current(worker, task, attempt) {
            self.roster.with(worker, |w| w.is_draining = true);
            self.take_back(worker, task);
        }
    }

    pub(crate) fn failed(&mut self, worker: WorkerId, task: TaskId, attempt: u32, reason: &str) {
        self.effects.push_back(Effect::Acknowledge {
            worker,
            task,
            attempt,
        });
        if self.is_current(worker, task, attempt) {
            self.totals.failed += 1;
            self.fail(worker, task, reason);
        }
    }
}
