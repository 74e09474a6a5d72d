use alloc::vec::Vec;

use crate::questions::most_parts;
use crate::tasks::Part;
use crate::workers::{Hold, Room, Turn, Worker};
use crate::{Effect, QuestionId, Role, Scheduler, Split, Task, TaskId, WorkerId, divide};

/// Who gets what: free slots first, then queues, in turn; the most urgent and eldest task first.
impl Scheduler {
    pub(crate) fn hand_out(&mut self) {
        if self.is_retired {
            return;
        }
        self.recruit();
        self.split_waiting();
        self.fill(Room::Slot);
        self.level();
        self.fill(Room::Queue);
    }

    /// Divides fresh questions where fewer tasks wait than slots are free, so that each gets its share of the slots.
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

    /// Replaces the only task of a question that nobody has begun by several.
    fn split(&mut self, task: TaskId, share: usize) {
        let Some(part) = self.parts.get(&task).filter(|part| part.issued == 0) else {
            return;
        };
        let id: QuestionId = part.question;
        let Some(inquiry) = self.inquiries.get_mut(&id) else {
            return;
        };
        if inquiry.split != Split::Seeded || inquiry.parts.len() != 1 {
            return;
        }
        let most = most_parts(&inquiry.question, &inquiry.shallow, self.options.min_moves);
        let parts = divide(
            &inquiry.question,
            &inquiry.shallow,
            share.min(most),
            self.options.distribution,
        );
        if parts.len() < 2 {
            return;
        }
        let priority = inquiry.priority;
        inquiry.parts.clear();
        self.parts.remove(&task);
        self.waiting.remove(&(priority, task));
        parts
            .into_iter()
            .for_each(|part| _ = self.add_part(id, part, priority));
    }

    fn fill(&mut self, room: Room) {
        let mut last = None;
        while let Some(turn) = self.next_turn(room, last) {
            if let Some(task) = self.choose(turn.1) {
                self.assign(turn.1, task);
            }
            last = Some(turn);
        }
    }

    /// Returns the most urgent task that this worker may have.
    fn choose(&self, worker: WorkerId) -> Option<TaskId> {
        let mut waiting = self.waiting.iter().map(|(_, task)| *task);
        waiting.find(|task| !self.avoids(*task, worker))
    }

    fn next_turn(&self, room: Room, last: Option<Turn>) -> Option<Turn> {
        if self.waiting.is_empty() {
            None
        } else {
            self.roster.next(room, last)
        }
    }

    /// Whether a task is for somebody else: the worker has it already, must not have it, or does not play its variant; it has
    /// failed at it, and there is somebody who has not; or it has gone wrong with this worker, or has gone wrong and so has
    /// the worker, and there is somebody sound who has not tried it.
    pub(crate) fn avoids(&self, task: TaskId, worker: WorkerId) -> bool {
        let (Some(part), Some(w)) = (self.parts.get(&task), self.roster.get(worker)) else {
            return false;
        };
        let variant = part.ask.position.variant();
        if w.hold(task).is_some()
            || !w.has(variant)
            || part.barred.contains(&worker)
            || self.is_represented(part, w)
        {
            return true;
        }
        if part.failures() > 0 {
            let failed = part.failed_on();
            if failed.contains(&worker) && self.roster.has_but(&failed, part) {
                return true;
            }
        }
        let is_suspect =
            (w.strikes > 0 && part.failures() > 0) || part.tried().any(|id| id == worker);
        is_suspect
            && self
                .roster
                .has_sound_but(part.tried().chain(part.barred.iter().copied()), variant)
    }

    /// Whether a worker has as many members of a pool as it has slots: another would only wait behind them.
    fn is_represented(&self, part: &Part, worker: &Worker) -> bool {
        let Role::Member { .. } = part.role else {
            return false;
        };
        let parts = self
            .inquiries
            .get(&part.question)
            .map_or(&[][..], |inquiry| &inquiry.parts);
        parts
            .iter()
            .filter(|task| worker.hold(**task).is_some())
            .count()
            >= worker.slots as usize
    }

    /// Moves what is not begun from the longest queues to the slots that are still free.
    fn level(&mut self) {
        let mut last = None;
        while let (Some(turn), Some(from)) = (
            self.roster.next(Room::Slot, last),
            self.roster.most_loaded(),
        ) {
            last = Some(turn);
            let queued = self.roster.get(from).and_then(|w| w.last_queued());
            let Some(task) = queued.filter(|task| !self.avoids(*task, turn.1)) else {
                continue;
            };
            self.roster.with(from, |w| w.drop_task(task));
            self.parts
                .entry(task)
                .and_modify(|part| part.give_back(from));
            self.effects
                .push_back(Effect::Revoke { worker: from, task });
            self.assign(turn.1, task);
            self.totals.moved += 1;
        }
    }

    pub(crate) fn assign(&mut self, worker: WorkerId, task: TaskId) {
        let allowance = self.allowance(worker, task);
        let Some(part) = self.parts.get_mut(&task) else {
            return;
        };
        let attempt = part.issue(worker);
        let (question, priority) = (part.question, part.priority);
        let assigned = Task {
            id: task,
            attempt,
            question,
            part: part.ask.clone(),
            role: part.role,
            priority,
        };
        self.waiting.remove(&(priority, task));
        self.turn += 1;
        let hold = Hold::new(attempt, priority, self.turn, self.now, allowance);
        self.roster.with(worker, |w| w.take(task, hold));
        self.totals.assigned += 1;
        self.totals.reassigned += u64::from(attempt > 1);
        self.effects.push_back(Effect::Assign {
            worker,
            task: assigned,
        });
    }
}
