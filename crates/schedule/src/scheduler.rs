use core::time::Duration;

use kagetsu_game::{Answer, Question};

use crate::{Census, Effect, Options, QuestionId, Report, Split, TaskId, WorkerId, WorkerStatus};

/// The state machine. After every call, drain [`Scheduler::poll`]; wake up at [`Scheduler::deadline`] to call
/// [`Scheduler::tick`].
///
/// `now` is the time since any fixed moment; where it runs backwards it is taken to stand still. Every call costs
/// O(log n) in the number of workers, tasks and questions, times the number of tasks that it concerns.
#[derive(Debug)]
pub struct Scheduler {
    options: Options,
}

impl Scheduler {
    /// A scheduler that knows of no worker and no question.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Takes a question in. `shallow` is the 2-ply answer, whose head seeds every part and whose order is the order of
    /// the root moves; it may be empty where the question is not to be split. The least `priority` is done first, equal
    /// ones in the order in which they came.
    ///
    /// Ends in exactly one [`Effect::Finished`] or [`Effect::Failed`], unless it is [cancelled](Self::cancel).
    pub fn submit(
        &mut self,
        now: Duration,
        question: Question,
        shallow: Answer,
        split: Split,
        priority: u64,
    ) -> QuestionId {
        let _ = (now, question, shallow, split, priority, &self.options);
        todo!()
    }

    /// Drops a question: its tasks are revoked, its reports acknowledged. Harmless for one that is not known any more.
    pub fn cancel(&mut self, now: Duration, id: QuestionId) {
        let _ = (now, id);
        todo!()
    }

    /// The answer of a finished question is where it will not be lost: acknowledges its reports. Until then a report of
    /// one of its tasks that comes again stays unanswered, so that its worker keeps it. Harmless for an unknown question.
    pub fn settle(&mut self, id: QuestionId) {
        let _ = id;
        todo!()
    }

    /// A worker is there, for the first time or again. It runs `slots` tasks at the same time. `holding` names what it
    /// still has from before, with the attempt: begun, queued, or answered and not acknowledged. It keeps what nobody
    /// else has answered and is told to forget the rest; what it held before and does not name is given to others.
    pub fn join(&mut self, now: Duration, worker: WorkerId, slots: u32, holding: &[(TaskId, u32)]) {
        let _ = (now, worker, slots, holding);
        todo!()
    }

    /// A worker's stream has ended. With a `goodbye` it will not come back and hands back all that it holds; without one
    /// its tasks are given to others, and it may take up again what is not answered when it [joins](Self::join).
    pub fn leave(&mut self, now: Duration, worker: WorkerId, goodbye: bool) {
        let _ = (now, worker, goodbye);
        todo!()
    }

    /// A sign of life, with the positions visited so far in the tasks at hand; what is queued may be left out.
    pub fn heartbeat(&mut self, now: Duration, worker: WorkerId, progress: &[(TaskId, u64)]) {
        let _ = (now, worker, progress);
        todo!()
    }

    /// A worker has ended a task, and is ready for the next. Late, duplicate and unknown reports are harmless.
    ///
    /// Every report is acknowledged: at once where nothing more will be done with it, else when its question is
    /// [settled](Self::settle), [cancelled](Self::cancel) or set aside.
    pub fn report(&mut self, now: Duration, worker: WorkerId, task: TaskId, attempt: u32, report: Report) {
        let _ = (now, worker, task, attempt, report);
        todo!()
    }

    /// Time has passed: finds workers that are silent and tasks that do not get on.
    pub fn tick(&mut self, now: Duration) {
        let _ = now;
        todo!()
    }

    /// When to call [`Scheduler::tick`] if nothing else happens; `None` while there is nothing to wait for.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        todo!()
    }

    /// The next thing to do, in order; `None` when all is done.
    pub fn poll(&mut self) -> Option<Effect> {
        todo!()
    }

    /// Tasks that could be handed out at once if there were more questions: free slots and prefetch, less what waits.
    #[must_use]
    pub fn appetite(&self) -> u64 {
        todo!()
    }

    /// All workers that have joined and not left, in the order of their names.
    pub fn workers(&self) -> impl Iterator<Item = WorkerStatus> + '_ {
        core::iter::empty()
    }

    /// How many there are of everything.
    #[must_use]
    pub fn census(&self) -> Census {
        todo!()
    }
}
