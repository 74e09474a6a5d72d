//! A scheduler driven by hand: every event is given, every effect is inspected.

use std::time::Duration;

use kagetsu_game::{Effort, Question};
use kagetsu_schedule::{
    Effect, Options, QuestionId, Report, Scheduler, Split, Task, TaskId, Totals, WorkerId,
    WorkerStatus,
};

use crate::engine;

pub(crate) const W1: WorkerId = WorkerId(1);
pub(crate) const W2: WorkerId = WorkerId(2);

/// A scheduler with its clock and the effects since the last look.
pub(crate) struct Harness {
    pub(crate) scheduler: Scheduler,
    pub(crate) now: Duration,
}

impl Harness {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            scheduler: Scheduler::new(options),
            now: Duration::ZERO,
        }
    }

    pub(crate) fn prefetching(prefetch: u32) -> Self {
        Self::new(Options {
            prefetch,
            ..Options::default()
        })
    }

    /// No prefetch: an assigned task starts at once.
    pub(crate) fn direct() -> Self {
        Self::prefetching(0)
    }

    /// Without prefetch; worker 1 has one slot and the only task.
    pub(crate) fn with_task() -> (Self, Task) {
        let mut harness = Self::direct();
        harness.join(W1, 1);
        harness.ask(1, Split::Never, 0);
        let (_, task) = harness.one_assigned();
        (harness, task)
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.scheduler.tick(self.now);
    }

    pub(crate) fn ask(&mut self, n: usize, split: Split, priority: u64) -> QuestionId {
        let question = question(n);
        self.scheduler.submit(
            self.now,
            question.clone(),
            engine::shallow(&question),
            split,
            priority,
            (),
        )
    }

    pub(crate) fn join(&mut self, worker: WorkerId, slots: u32) {
        self.scheduler.join(self.now, worker, slots, &[]);
    }

    /// A worker comes back, and names a task that it has.
    pub(crate) fn claim(&mut self, worker: WorkerId, slots: u32, task: &Task) {
        let held = [(task.id, task.attempt)];
        self.scheduler.join(self.now, worker, slots, &held);
    }

    pub(crate) fn beat(&mut self, worker: WorkerId, progress: &[(TaskId, u64)]) {
        self.scheduler.heartbeat(self.now, worker, progress);
    }

    pub(crate) fn report(&mut self, worker: WorkerId, task: &Task, report: Report) {
        self.scheduler
            .report(self.now, worker, task.id, task.attempt, report);
    }

    pub(crate) fn finish(&mut self, worker: WorkerId, task: &Task) {
        self.report(worker, task, done(task));
    }

    pub(crate) fn fail(&mut self, worker: WorkerId, task: &Task) {
        self.report(worker, task, Report::Failed("no memory".into()));
    }

    /// Returns the effects but the news of workers behind, which the totals count.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = std::iter::from_fn(|| self.scheduler.poll()).collect();
        effects.retain(|effect| !matches!(effect, Effect::Behind { .. }));
        effects
    }

    /// Returns the assignments, and checks that there are no other effects.
    pub(crate) fn assigned(&mut self) -> Vec<(WorkerId, Task)> {
        let only_assigned = |effect| match effect {
            Effect::Assign { worker, task } => (worker, task),
            other => panic!("{other:?}"),
        };
        self.effects().into_iter().map(only_assigned).collect()
    }

    /// Returns the only assignment.
    pub(crate) fn one_assigned(&mut self) -> (WorkerId, Task) {
        let mut assigned = self.assigned();
        assert_eq!(assigned.len(), 1, "{assigned:?}");
        assigned.remove(0)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.scheduler.counts().totals
    }

    pub(crate) fn status(&self, worker: WorkerId) -> WorkerStatus {
        self.scheduler
            .workers()
            .find(|status| status.id == worker)
            .expect("it has joined")
    }
}

pub(crate) fn question(n: usize) -> Question {
    Question::new(engine::position(n), Effort::depth(8))
}

pub(crate) fn done(task: &Task) -> Report {
    Report::Done(engine::answer(&task.part))
}

pub(crate) fn acknowledge(worker: WorkerId, task: &Task) -> Effect {
    Effect::Acknowledge {
        worker,
        task: task.id,
        attempt: task.attempt,
    }
}

pub(crate) fn revoke(worker: WorkerId, task: &Task) -> Effect {
    Effect::Revoke {
        worker,
        task: task.id,
    }
}

pub(crate) fn workers_of(assigned: &[(WorkerId, Task)]) -> Vec<WorkerId> {
    assigned.iter().map(|(worker, _)| *worker).collect()
}
