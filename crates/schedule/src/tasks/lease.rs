use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::workers::{Hold, is_behind};
use crate::{Effect, Scheduler, TaskId, WorkerId};

/// How a task leaves a worker's hands, and how it comes back to them.
impl Scheduler {
    /// Takes a task from all who have it, and tells them, but not the one who has just ended it.
    pub(crate) fn release(&mut self, task: TaskId, but: Option<WorkerId>) {
        let Some(part) = self.parts.get_mut(&task) else {
            return;
        };
        for worker in part.holders() {
            part.give_back(worker);
            self.roster.with(worker, |w| w.drop_task(task));
            if Some(worker) != but {
                self.effects.push_back(Effect::Revoke { worker, task });
            }
        }
    }

    /// A worker gives a task back unharmed.
    pub(crate) fn take_back(&mut self, worker: WorkerId, task: TaskId) {
        self.totals.handed_back += 1;
        self.roster.with(worker, |w| w.drop_task(task));
        self.parts
            .entry(task)
            .and_modify(|part| part.give_back(worker));
        self.requeue(task);
    }

    /// A worker could not do its task: another shall try, unless enough have.
    pub(crate) fn fail(&mut self, worker: WorkerId, task: TaskId, reason: &str) {
        self.roster.with(worker, |w| {
            w.drop_task(task);
            w.strikes += 1;
        });
        let Some(part) = self.parts.get_mut(&task) else {
            return;
        };
        part.fail(worker);
        let (question, failures, failed) = (part.question, part.failures(), part.failed_on());
        // Three failures of one worker say more of the worker than of the question, as long as there are others.
        let most = self.options.max_attempts;
        let is_enough = failed.len() >= most as usize
            || failures >= most && !self.roster.has_but(&failed, part);
        if is_enough {
            let others = failed.len();
            let on = if others > 1 {
                format!(" on {others} workers")
            } else {
                String::new()
            };
            self.set_aside(
                question,
                format!("failed {failures} times{on}, at last on {worker}: {reason}"),
            );
        } else {
            self.requeue(task);
        }
    }

    /// A worker is not heard of any more, or does not know of the task.
    pub(crate) fn lose(&mut self, worker: WorkerId, task: TaskId) {
        if !self.holds(worker, task) {
            return;
        }
        self.totals.lost += 1;
        self.roster.with(worker, |w| w.drop_task(task));
        let Some(part) = self.parts.get_mut(&task) else {
            return;
        };
        part.lose(worker);
        let (question, losses) = (part.question, part.losses());
        if losses >= self.options.max_losses {
            self.set_aside(
                question,
                format!("{losses} workers were lost while they had it, at last {worker}"),
            );
        } else {
            self.requeue(task);
        }
    }

    /// A worker beats for a task that is not in its hands: it is back with one that was lost, or it has not heard yet that
    /// it is no longer wanted, or its beat and its report have crossed.
    pub(crate) fn hear_of(&mut self, worker: WorkerId, task: TaskId) {
        let part = self.parts.get(&task);
        if part
            .and_then(|part| part.answered)
            .is_none_or(|(by, _)| by != worker)
        {
            let lost = part.and_then(|part| part.lost_by(worker));
            self.regain(worker, task, lost.unwrap_or(0));
        }
    }

    /// A worker says that it has a task: it keeps it, unless nothing more is wanted of it, or not of this worker, or another
    /// has it under this attempt that was not given to this one.
    pub(crate) fn regain(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        let allowance = self.allowance(worker, task);
        let is_believed = !self.is_quarantined(worker);
        let part = self.parts.get_mut(&task);
        if part
            .as_ref()
            .is_some_and(|part| part.answered == Some((worker, attempt)))
        {
            return; // its report waits to be acknowledged
        }
        let wanted = part.filter(|part| {
            part.answered.is_none() && is_believed && !part.barred.contains(&worker)
        });
        let wanted = wanted.and_then(|part| part.owner(attempt).map(|owner| (part, owner)));
        let has_it = |owner| {
            self.roster
                .get(owner)
                .and_then(|w| w.hold(task))
                .is_some_and(|hold| hold.attempt == attempt)
        };
        let (part, loser) = match wanted {
            Some((_, owner)) if owner == worker && has_it(owner) => return,
            // Numbers can be learned: who is there and has it keeps it, but not from whom it was given to.
            Some((part, owner)) if has_it(owner) && part.was_issued(attempt, worker) => {
                (part, Some(owner))
            }
            Some((part, owner)) if !has_it(owner) => (part, None),
            _ => return self.effects.push_back(Effect::Revoke { worker, task }),
        };
        if let Some(owner) = loser {
            self.roster.with(owner, |w| w.drop_task(task));
            self.effects.push_back(Effect::Revoke {
                worker: owner,
                task,
            });
        }
        part.lose(worker);
        part.regain(attempt, worker);
        self.waiting.remove(&(part.priority, task));
        self.turn += 1;
        let hold = Hold::new(attempt, part.priority, self.turn, self.now, allowance);
        self.roster.with(worker, |w| w.take(task, hold));
        self.totals.regained += 1;
    }

    fn requeue(&mut self, task: TaskId) {
        if let Some(part) = self
            .parts
            .get(&task)
            .filter(|part| part.answered.is_none() && !part.is_running())
        {
            self.waiting.insert((part.priority, task));
        }
    }

    /// A worker's alarm has gone off.
    pub(crate) fn look_after(&mut self, worker: WorkerId) {
        let Some(w) = self.roster.get(worker) else {
            return;
        };
        if w.is_overdue(self.now, self.options.lease) {
            self.roster.with(worker, |w| w.is_silent = true);
            self.tasks_of(worker)
                .into_iter()
                .for_each(|task| self.lose(worker, task));
            return;
        }
        for task in w.overdue(self.now) {
            self.look_at(worker, task);
        }
        let Some(w) = self.roster.get(worker) else {
            return;
        };
        let stall_timeout = self.options.stall_timeout;
        for task in w.stalled(self.now, stall_timeout) {
            if self.holds(worker, task) {
                self.totals.stalled += 1;
                self.effects.push_back(Effect::Revoke { worker, task });
                self.fail(
                    worker,
                    task,
                    &format!("no position visited in {} s", stall_timeout.as_secs()),
                );
            }
        }
    }

    /// How long a worker may take over a task before somebody looks how it gets on.
    pub(crate) fn allowance(&self, worker: WorkerId, task: TaskId) -> Option<Duration> {
        let (part, w) = (self.parts.get(&task)?, self.roster.get(worker)?);
        self.forecast
            .allowance(&part.ask, w.pace.among(self.forecast.usual), &self.options)
    }

    /// A task should be done. If its worker has fallen behind, others may have it too: whoever is first counts. If the task
    /// is only larger than others, it goes on.
    fn look_at(&mut self, worker: WorkerId, task: TaskId) {
        let (now, usual) = (self.now, self.forecast.usual);
        let (Some(part), Some(w)) = (self.parts.get_mut(&task), self.roster.get(worker)) else {
            return;
        };
        let Some(&Hold { nodes, began, .. }) = w.hold(task) else {
            return;
        };
        let span = now.saturating_sub(began);
        let longest = part
            .ask
            .effort
            .time
            .map(|time| time.saturating_mul(self.options.overdue_factor));
        let is_late =
            longest.is_some_and(|longest| longest.saturating_add(self.options.lease) <= span);
        if !is_late && !is_behind(nodes, w.pace.among(usual), span) {
            self.roster
                .with(worker, |w| w.allow(task, Some(span.saturating_mul(2))));
            return;
        }
        part.lapse(worker);
        let has_enough = part.holders().len() >= self.options.max_attempts as usize;
        self.totals.overdue += 1;
        self.roster.with(worker, |w| {
            w.allow(task, None);
            w.strikes += 1;
            w.pace.learn(nodes, span);
        });
        if !has_enough {
            self.requeue(task);
        }
    }

    /// Whether nothing that the worker says counts: what it had, others get.
    pub(crate) fn is_quarantined(&self, worker: WorkerId) -> bool {
        self.roster
            .get(worker)
            .is_some_and(|w| w.is_barred(crate::Suspension::Quarantine))
    }

    /// Whether the worker has the task in its hands.
    #[must_use]
    pub fn holds(&self, worker: WorkerId, task: TaskId) -> bool {
        self.roster
            .get(worker)
            .is_some_and(|w| w.hold(task).is_some())
    }

    /// Whether a report is about what the worker has in hand just now, and not about an earlier attempt.
    pub(crate) fn is_current(&self, worker: WorkerId, task: TaskId, attempt: u32) -> bool {
        self.roster
            .get(worker)
            .and_then(|w| w.hold(task))
            .is_some_and(|hold| hold.attempt == attempt)
    }
}
