use alloc::vec::Vec;

use crate::questions::max_parts;
use crate::tasks::TaskState;
use crate::workers::{Candidate, Lease, Vacancy, Worker};
use crate::{Effect, QuestionId, Scheduler, Split, Task, TaskId, TaskRole, WorkerId, divide};

/// Assignment of tasks: free slots first, then queues. The worker served longest ago comes first,
/// and gets the most urgent and oldest task.
impl<P> Scheduler<P> {
    pub(crate) fn assign_waiting(&mut self) {
        if self.is_retired {
            return;
        }
        self.balance_members();
        self.split_waiting();
        self.fill(Vacancy::Slot);
        self.rebalance();
        self.fill(Vacancy::Queue);
    }

    /// Divides new questions if fewer tasks wait than slots are free, so that each gets its share
    /// of the slots.
    fn split_waiting(&mut self) {
        let (free, waiting) = (self.roster.free_slots, self.waiting.len() as u64);
        if waiting == 0 || waiting >= free {
            return;
        }
        let tasks: Vec<TaskId> = self.waiting.iter().map(|(_, task)| *task).collect();
        for (index, task) in (0..).zip(tasks) {
            let share = free / waiting + u64::from(index < free % waiting);
            self.split(task, usize::try_from(share).unwrap_or(usize::MAX));
        }
    }

    /// Replaces the only task of a question, never assigned before, by several.
    fn split(&mut self, task: TaskId, share: usize) {
        let Some(state) = self.tasks.get(&task).filter(|state| state.issued == 0) else {
            return;
        };
        let id: QuestionId = state.question;
        let Some(question_state) = self.questions.get_mut(&id) else {
            return;
        };
        if question_state.split != Split::Seeded || question_state.tasks.len() != 1 {
            return;
        }
        let most = max_parts(
            &question_state.question,
            &question_state.shallow,
            self.options.min_moves,
        );
        let parts = divide(
            &question_state.question,
            &question_state.shallow,
            share.min(most),
        );
        if parts.len() < 2 {
            return;
        }
        let priority = question_state.priority;
        question_state.tasks.clear();
        self.tasks.remove(&task);
        self.waiting.remove(&(priority, task));
        parts
            .into_iter()
            .for_each(|part| _ = self.add_task(id, part, priority));
    }

    fn fill(&mut self, room: Vacancy) {
        let mut last = None;
        while let Some(candidate) = self.next_candidate(room, last) {
            let (_, worker) = candidate;
            if let Some(task) = self.choose(worker) {
                self.assign(worker, task);
            }
            last = Some(candidate);
        }
    }

    /// Returns the most urgent task that this worker may have.
    fn choose(&self, worker: WorkerId) -> Option<TaskId> {
        let mut waiting = self.waiting.iter().map(|(_, task)| *task);
        waiting.find(|task| !self.avoids(*task, worker))
    }

    fn next_candidate(&self, room: Vacancy, last: Option<Candidate>) -> Option<Candidate> {
        if self.waiting.is_empty() {
            None
        } else {
            self.roster.next(room, last)
        }
    }

    /// Whether a task should go to another worker. This is so if the worker already has the task,
    /// is excluded, or does not play the variant; if it failed at the task and some worker did not;
    /// or if the task went wrong here, or has failed and this worker is on probation, and a sound
    /// worker has not tried it.
    pub(crate) fn avoids(&self, task: TaskId, worker: WorkerId) -> bool {
        let (Some(state), Some(w)) = (self.tasks.get(&task), self.roster.get(worker)) else {
            return false;
        };
        let variant = state.ask.position.variant();
        if w.lease(task).is_some()
            || !w.capacity.has(variant)
            || state.excludes(worker, w.capacity.is_trusted)
            || self.has_member_per_slot(state, w)
        {
            return true;
        }
        if state.failures() > 0 {
            let failed = state.failed_on();
            if failed.contains(&worker) && self.roster.has_worker_except(&failed, state) {
                return true;
            }
        }
        let is_suspect =
            (w.failures_in_row > 0 && state.failures() > 0) || state.tried().any(|id| id == worker);
        is_suspect
            && self.roster.has_sound_worker_except(
                state.tried().chain(state.excluded.iter().copied()),
                variant,
            )
    }

    /// Whether a worker already has as many members of a shared search as slots.
    fn has_member_per_slot(&self, state: &TaskState, worker: &Worker) -> bool {
        let TaskRole::Member { .. } = state.role else {
            return false;
        };
        let parts = self
            .questions
            .get(&state.question)
            .map_or(&[][..], |question_state| &question_state.tasks);
        parts
            .iter()
            .filter(|task| worker.lease(**task).is_some())
            .count()
            >= worker.capacity.slots as usize
    }

    /// Moves queued tasks from the longest queues to slots that are still free.
    fn rebalance(&mut self) {
        let mut last = None;
        while let (Some(candidate), Some(from)) = (
            self.roster.next(Vacancy::Slot, last),
            self.roster.most_loaded(),
        ) {
            last = Some(candidate);
            let queued = self.roster.get(from).and_then(|w| w.last_queued());
            let Some(task) = queued.filter(|task| !self.avoids(*task, candidate.1)) else {
                continue;
            };
            self.roster.with(from, |w| w.drop_lease(task));
            self.tasks
                .entry(task)
                .and_modify(|state| state.mark_returned(from));
            self.effects
                .push_back(Effect::Revoke { worker: from, task });
            self.assign(candidate.1, task);
            self.totals.moved += 1;
        }
    }

    pub(crate) fn assign(&mut self, worker: WorkerId, task: TaskId) {
        let due = self
            .patience(worker, task)
            .map(|patience| self.now.saturating_add(patience));
        let is_trusted = self.is_trusted(worker);
        let Some(state) = self.tasks.get_mut(&task) else {
            return;
        };
        let attempt = state.issue(self.now, worker, is_trusted);
        let (question, priority) = (state.question, state.priority);
        let assigned = Task {
            id: task,
            attempt,
            question,
            part: state.ask.clone(),
            role: state.role,
            priority,
        };
        self.waiting.remove(&(priority, task));
        self.sequence += 1;
        let lease = Lease::new(attempt, priority, self.sequence, self.now, due);
        self.roster.with(worker, |w| w.take(task, lease));
        self.totals.assigned += 1;
        self.totals.reassigned += u64::from(attempt > 1);
        self.effects.push_back(Effect::Assign {
            worker,
            task: assigned,
        });
    }
}
