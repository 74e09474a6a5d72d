use kagetsu_game::Answer;

use crate::{Effect, Scheduler, Split, TaskId, WorkerId};

/// Handling of reports.
impl<P> Scheduler<P> {
    pub(crate) fn done(&mut self, worker: WorkerId, task: TaskId, attempt: u32, answer: Answer) {
        let known = self
            .tasks
            .get(&task)
            .filter(|state| state.was_given(attempt, worker));
        let Some(state) = known.filter(|state| state.answered.is_none()) else {
            self.totals.late += 1;
            if known.is_none_or(|state| state.answered != Some((worker, attempt))) {
                self.acknowledge(worker, task, attempt);
            }
            return;
        };
        match state.relevant(answer) {
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
        let took = self.roster.with(worker, |w| w.succeed(now, task, nodes));
        self.release(task, Some(worker));
        let Some(state) = self.tasks.get_mut(&task) else {
            return;
        };
        state.answered = Some((worker, attempt));
        if let Some(took) = took.flatten() {
            let usual = self.latency.learn(&state.ask, took);
            self.roster.with(worker, |w| w.compare(took, usual));
        }
        self.waiting.remove(&(state.priority, task));
        self.totals.done += 1;
        let question = state.question;
        let Some(question_state) = self.questions.get_mut(&question) else {
            return;
        };
        if question_state.split == Split::Shared {
            self.acknowledge(worker, task, attempt);
            return self.finish_shared_search(question, worker, answer);
        }
        question_state.learn(answer, (worker, task, attempt));
        if question_state.is_finished() {
            let (answer, nodes, by) = question_state.take_answer();
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
                answer: question_state.answer.clone(),
            });
        }
    }

    pub(crate) fn acknowledge(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        self.effects.push_back(Effect::Acknowledge {
            worker,
            task,
            attempt,
        });
    }

    pub(crate) fn handed_back(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        self.acknowledge(worker, task, attempt);
        if self.is_current(worker, task, attempt) {
            self.roster.with(worker, |w| w.is_draining = true);
            self.return_task(worker, task);
        }
    }

    pub(crate) fn failed(&mut self, worker: WorkerId, task: TaskId, attempt: u32, reason: &str) {
        self.acknowledge(worker, task, attempt);
        if self.is_current(worker, task, attempt) {
            self.totals.failed += 1;
            self.fail(worker, task, reason);
        }
    }
}
