use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::effect::TaskRole;
use crate::workers::Lease;
use crate::{Effect, Scheduler, TaskId, WorkerId};

/// The time for which a task waits for its next worker is doubled so often at most.
const MAX_DOUBLINGS: u32 = 3;

/// The life of a lease: how a worker loses a task, and how it reclaims one.
impl<P> Scheduler<P> {
    /// Ends all leases of a task and revokes them, except from the worker that has just reported.
    pub(crate) fn release(&mut self, task: TaskId, but: Option<WorkerId>) {
        let Some(state) = self.tasks.get_mut(&task) else {
            return;
        };
        for worker in state.holders() {
            state.mark_returned(worker);
            self.roster.with(worker, |w| w.drop_lease(task));
            if Some(worker) != but {
                self.effects.push_back(Effect::Revoke { worker, task });
            }
        }
    }

    /// Removes a task, and revokes it from all workers.
    pub(crate) fn end_task(&mut self, task: TaskId) {
        self.release(task, None);
        if let Some(state) = self.tasks.remove(&task) {
            self.waiting.remove(&(state.priority, task));
        }
    }

    /// Returns a task that its worker hands back.
    pub(crate) fn return_task(&mut self, worker: WorkerId, task: TaskId) {
        self.totals.handed_back += 1;
        self.roster.with(worker, |w| w.drop_lease(task));
        self.tasks
            .entry(task)
            .and_modify(|state| state.mark_returned(worker));
        self.requeue(task);
    }

    /// Records a failure. The task is assigned again, unless it has failed too often.
    pub(crate) fn fail(&mut self, worker: WorkerId, task: TaskId, reason: &str) {
        let now = self.now;
        self.roster.with(worker, |w| {
            w.drop_lease(task);
            w.fail(now);
        });
        let Some(state) = self.tasks.get_mut(&task) else {
            return;
        };
        state.fail(worker);
        let (question, failed) = (state.question, state.failed_on());
        // Several failures on one worker say more about the worker than about the question, and
        // those on untrusted workers nothing.
        let max = self.options.max_attempts;
        let (failures, workers) = state.trusted_failures();
        let is_enough = workers >= max as usize
            || failures >= max && !self.roster.has_worker_except(&failed, state);
        if is_enough {
            let on = if workers > 1 {
                format!(" on {workers} workers")
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

    /// Ends the lease of a worker that is silent or no longer knows the task.
    pub(crate) fn lose(&mut self, worker: WorkerId, task: TaskId) {
        if !self.holds(worker, task) {
            return;
        }
        self.totals.lost += 1;
        self.roster.with(worker, |w| w.drop_lease(task));
        let Some(state) = self.tasks.get_mut(&task) else {
            return;
        };
        state.lose(worker);
        let (question, losses) = (state.question, state.trusted_losses());
        if losses >= self.options.max_losses {
            self.set_aside(
                question,
                format!("{losses} workers were lost while they had it, at last {worker}"),
            );
        } else {
            self.requeue(task);
        }
    }

    /// Handles progress on a task without a lease. Either a lost worker is back with it, or the
    /// worker has not seen the revocation yet, or its heartbeat and report have crossed.
    pub(crate) fn unexpected_progress(&mut self, worker: WorkerId, task: TaskId) {
        let state = self.tasks.get(&task);
        if state
            .and_then(|state| state.answered)
            .is_none_or(|(by, _)| by != worker)
        {
            let lost = state.and_then(|state| state.lost_by(worker));
            self.reclaim(worker, task, lost.unwrap_or(0));
        }
    }

    /// Handles a worker's claim to a task. It keeps the task unless the task is answered, the
    /// worker may not have it, or another worker holds this attempt and it was not assigned to the
    /// claimant.
    pub(crate) fn reclaim(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        let patience = self.patience(worker, task);
        let is_trusted = self.is_trusted(worker);
        let state = self.tasks.get_mut(&task);
        if state
            .as_ref()
            .is_some_and(|state| state.answered == Some((worker, attempt)))
        {
            return; // its report waits to be acknowledged
        }
        let wanted =
            state.filter(|state| state.answered.is_none() && !state.excludes(worker, is_trusted));
        let wanted = wanted.and_then(|state| state.owner(attempt).map(|owner| (state, owner)));
        let has_it = |owner| {
            self.roster
                .get(owner)
                .and_then(|w| w.lease(task))
                .is_some_and(|lease| lease.attempt == attempt)
        };
        let (state, loser) = match wanted {
            Some((_, owner)) if owner == worker && has_it(owner) => return,
            // Attempt numbers can be guessed, so only the original assignee may take over a held
            // lease.
            Some((state, owner)) if has_it(owner) && state.was_issued(attempt, worker) => {
                (state, Some(owner))
            }
            Some((state, owner)) if !has_it(owner) => (state, None),
            _ => return self.effects.push_back(Effect::Revoke { worker, task }),
        };
        if let Some(owner) = loser {
            self.roster.with(owner, |w| w.drop_lease(task));
            self.effects.push_back(Effect::Revoke {
                worker: owner,
                task,
            });
        }
        state.lose(worker);
        state.reclaim(attempt, worker, is_trusted);
        self.waiting.remove(&(state.priority, task));
        self.sequence += 1;
        // A worker that leaves and returns gains no time by it.
        let since = state.since(attempt).unwrap_or(self.now);
        let due = patience.map(|patience| since.saturating_add(patience));
        let lease = Lease::new(attempt, state.priority, self.sequence, self.now, due);
        self.roster.with(worker, |w| w.take(task, lease));
        self.totals.regained += 1;
        if due.is_some_and(|due| due <= self.now) {
            self.repeat(worker, task);
        }
    }

    fn requeue(&mut self, task: TaskId) {
        if let Some(state) = self
            .tasks
            .get(&task)
            .filter(|state| state.answered.is_none() && !state.is_running())
        {
            self.waiting.insert((state.priority, task));
        }
    }

    /// Handles the timer of a worker: silence, overdue tasks, stalled tasks.
    pub(crate) fn check_worker(&mut self, worker: WorkerId) {
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
        if w.paused_until.is_some_and(|until| until <= self.now) {
            self.roster.with(worker, |w| w.paused_until = None);
        }
        let Some(w) = self.roster.get(worker) else {
            return;
        };
        for task in w.overdue(self.now) {
            self.repeat(worker, task);
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

    /// Returns how long a worker may have a task before another gets it too; twice as long after
    /// each worker that had it for too long. The members of a shared search wait for no one.
    pub(crate) fn patience(&self, worker: WorkerId, task: TaskId) -> Option<Duration> {
        let (state, w) = (self.tasks.get(&task)?, self.roster.get(worker)?);
        if state.role != TaskRole::Whole {
            return None;
        }
        let usual = self.latency.allowance(&state.ask, &self.options);
        let patience = self.options.lease.saturating_add(w.patience(usual));
        Some(patience.saturating_mul(1 << state.overdue_holders().min(MAX_DOUBLINGS)))
    }

    /// Gives a task without an answer to another worker too; the first answer counts. So a worker
    /// that never answers holds no task, whatever its heartbeats say.
    fn repeat(&mut self, worker: WorkerId, task: TaskId) {
        let now = self.now;
        self.totals.overdue += 1;
        self.roster.with(worker, |w| w.fall_behind(now, task));
        if let Some(state) = self.tasks.get_mut(&task) {
            state.mark_overdue(worker);
        }
        self.effects.push_back(Effect::Behind { worker });
        self.requeue(task);
    }

    /// Whether the worker is trusted.
    pub(crate) fn is_trusted(&self, worker: WorkerId) -> bool {
        self.roster
            .get(worker)
            .is_some_and(|w| w.capacity.is_trusted)
    }

    /// Whether the worker holds a lease on the task.
    #[must_use]
    pub fn holds(&self, worker: WorkerId, task: TaskId) -> bool {
        self.roster
            .get(worker)
            .is_some_and(|w| w.lease(task).is_some())
    }

    /// Whether a report is about the worker's current lease, not an earlier attempt.
    pub(crate) fn is_current(&self, worker: WorkerId, task: TaskId, attempt: u32) -> bool {
        self.roster
            .get(worker)
            .and_then(|w| w.lease(task))
            .is_some_and(|lease| lease.attempt == attempt)
    }
}
