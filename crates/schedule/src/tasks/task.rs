use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question};

use crate::effect::TaskRole;
use crate::{QuestionId, WorkerId};

/// One task and its history: content, attempts, current holders.
#[derive(Debug)]
pub(crate) struct TaskState {
    pub(crate) question: QuestionId,
    pub(crate) ask: Question,
    pub(crate) role: TaskRole,
    pub(crate) priority: u64,
    /// Number of assignments, which is the number of the last attempt.
    pub(crate) issued: u32,
    /// The worker and the attempt whose answer counts.
    pub(crate) answered: Option<(WorkerId, u32)>,
    /// Workers that must not have it.
    pub(crate) excluded: Vec<WorkerId>,
    /// Whether only trusted workers may have it.
    pub(crate) needs_trusted: bool,
    attempts: Vec<Attempt>,
}

/// One assignment.
#[derive(Debug)]
struct Attempt {
    number: u32,
    /// The worker that it was assigned to.
    to: WorkerId,
    /// The worker that holds it now; another one after a claim.
    worker: WorkerId,
    is_trusted: bool,
    /// When it was assigned.
    since: Duration,
    state: AttemptState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptState {
    /// The worker holds it.
    Running,
    /// The worker holds it for too long; others may have it too.
    Overdue,
    /// The worker is silent; it may return with it.
    Lost,
    /// The worker could not do it.
    Failed,
    /// The worker returned it, or it was taken from its queue. Only the last one of each worker is
    /// kept.
    Returned,
}

impl AttemptState {
    const fn is_held(self) -> bool {
        matches!(self, Self::Running | Self::Overdue)
    }
}

impl TaskState {
    pub(crate) fn new(question: QuestionId, ask: Question, priority: u64) -> Self {
        Self {
            question,
            ask,
            role: TaskRole::Whole,
            priority,
            issued: 0,
            answered: None,
            excluded: Vec::new(),
            needs_trusted: false,
            attempts: Vec::new(),
        }
    }

    /// Records an assignment and returns its attempt number.
    pub(crate) fn issue(&mut self, now: Duration, worker: WorkerId, is_trusted: bool) -> u32 {
        self.issued = self.issued.saturating_add(1);
        self.attempts.push(Attempt {
            number: self.issued,
            to: worker,
            worker,
            is_trusted,
            since: now,
            state: AttemptState::Running,
        });
        self.issued
    }

    /// Whether a worker must not have it.
    pub(crate) fn excludes(&self, worker: WorkerId, is_trusted: bool) -> bool {
        self.excluded.contains(&worker) || (!is_trusted && self.needs_trusted)
    }

    /// Whether this attempt was assigned to this worker, or claimed by it, and may still be its
    /// own.
    pub(crate) fn was_given(&self, attempt: u32, worker: WorkerId) -> bool {
        let is_its = |a: &Attempt| a.number == attempt && (a.worker == worker || a.to == worker);
        !self.excluded.contains(&worker) && self.attempts.iter().any(is_its)
    }

    /// Whether this attempt was assigned to this worker.
    pub(crate) fn was_issued(&self, attempt: u32, worker: WorkerId) -> bool {
        self.attempts
            .iter()
            .any(|a| a.number == attempt && a.to == worker)
    }

    /// Returns the workers that hold it.
    pub(crate) fn holders(&self) -> Vec<WorkerId> {
        self.attempts
            .iter()
            .filter(|a| a.state.is_held())
            .map(|a| a.worker)
            .collect()
    }

    /// Returns how many workers hold it for too long.
    pub(crate) fn overdue_holders(&self) -> u32 {
        self.count(AttemptState::Overdue)
    }

    /// Returns when a worker last got it.
    pub(crate) fn assigned_at(&self, worker: WorkerId) -> Option<Duration> {
        let is_its = |a: &&Attempt| a.worker == worker || a.to == worker;
        self.attempts.iter().rev().find(is_its).map(|a| a.since)
    }

    /// Returns when an attempt was assigned.
    pub(crate) fn since(&self, attempt: u32) -> Option<Duration> {
        let attempt = self.attempts.iter().find(|a| a.number == attempt);
        attempt.map(|attempt| attempt.since)
    }

    /// Whether a worker that is not overdue holds it.
    pub(crate) fn is_running(&self) -> bool {
        self.attempts
            .iter()
            .any(|a| a.state == AttemptState::Running)
    }

    pub(crate) fn failures(&self) -> u32 {
        self.count(AttemptState::Failed)
    }

    /// Returns the workers that failed at it, each once.
    pub(crate) fn failed_on(&self) -> BTreeSet<WorkerId> {
        self.attempts
            .iter()
            .filter(|a| a.state == AttemptState::Failed)
            .map(|a| a.worker)
            .collect()
    }

    /// Returns the failures of trusted workers, and how many of these workers failed.
    pub(crate) fn trusted_failures(&self) -> (u32, usize) {
        let failed = || {
            self.attempts
                .iter()
                .filter(|a| a.is_trusted && a.state == AttemptState::Failed)
        };
        let workers: BTreeSet<WorkerId> = failed().map(|a| a.worker).collect();
        (failed().count() as u32, workers.len())
    }

    /// Returns how many attempts were lost with trusted workers.
    pub(crate) fn trusted_losses(&self) -> u32 {
        self.attempts
            .iter()
            .filter(|a| a.is_trusted && a.state == AttemptState::Lost)
            .count() as u32
    }

    /// Returns the worker of every attempt that was lost or failed.
    pub(crate) fn tried(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.attempts
            .iter()
            .filter(|a| matches!(a.state, AttemptState::Lost | AttemptState::Failed))
            .map(|a| a.worker)
    }

    /// Returns the last attempt of this worker, if that was lost. Attempts that ended otherwise
    /// cannot be resumed.
    pub(crate) fn lost_by(&self, worker: WorkerId) -> Option<u32> {
        let last = self.attempts.iter().rev().find(|a| a.worker == worker);
        last.filter(|a| a.state == AttemptState::Lost)
            .map(|a| a.number)
    }

    /// Returns the worker of an attempt that is held or lost; `None` if it has ended.
    pub(crate) fn owner(&self, attempt: u32) -> Option<WorkerId> {
        let may_run = |a: &&Attempt| {
            a.number == attempt && (a.state.is_held() || a.state == AttemptState::Lost)
        };
        self.attempts.iter().find(may_run).map(|a| a.worker)
    }

    pub(crate) fn reclaim(&mut self, attempt: u32, worker: WorkerId, is_trusted: bool) {
        if let Some(known) = self.attempts.iter_mut().find(|a| a.number == attempt) {
            (known.worker, known.is_trusted) = (worker, is_trusted);
            known.state = AttemptState::Running;
        }
    }

    /// The worker keeps it, and another may have it too.
    pub(crate) fn mark_overdue(&mut self, worker: WorkerId) {
        self.end(worker, AttemptState::Overdue);
    }

    pub(crate) fn lose(&mut self, worker: WorkerId) {
        self.end(worker, AttemptState::Lost);
    }

    pub(crate) fn fail(&mut self, worker: WorkerId) {
        self.end(worker, AttemptState::Failed);
    }

    /// Ends an attempt without blame: handed back, or taken from a queue.
    pub(crate) fn mark_returned(&mut self, worker: WorkerId) {
        self.attempts
            .retain(|a| a.worker != worker || a.state != AttemptState::Returned);
        self.end(worker, AttemptState::Returned);
    }

    /// Returns the verdicts on the moves asked about; `None` if moves were named and no verdict is
    /// about them.
    pub(crate) fn relevant(&self, mut answer: Answer) -> Option<Answer> {
        if self.ask.moves.is_empty() {
            return Some(answer);
        }
        answer.retain(|m, _| self.ask.moves.contains(&m));
        if answer.is_empty() {
            None
        } else {
            Some(answer)
        }
    }

    fn end(&mut self, worker: WorkerId, state: AttemptState) {
        let running = |a: &&mut Attempt| a.worker == worker && a.state.is_held();
        self.attempts
            .iter_mut()
            .filter(running)
            .for_each(|a| a.state = state);
    }

    fn count(&self, state: AttemptState) -> u32 {
        self.attempts.iter().filter(|a| a.state == state).count() as u32
    }
}
