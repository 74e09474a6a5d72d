use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use kagetsu_game::{Answer, Question};

use crate::effect::Role;
use crate::{QuestionId, WorkerId};

/// One task and its history: what is asked, who tried, who has it now.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) question: QuestionId,
    pub(crate) ask: Question,
    pub(crate) role: Role,
    pub(crate) priority: u64,
    /// How often it was handed out; the number of the last attempt.
    pub(crate) issued: u32,
    /// Whose answer counts, under which attempt.
    pub(crate) answered: Option<(WorkerId, u32)>,
    /// Who must not have it.
    pub(crate) barred: Vec<WorkerId>,
    attempts: Vec<Attempt>,
}

/// One handing-out.
#[derive(Debug)]
struct Attempt {
    number: u32,
    /// To whom.
    to: WorkerId,
    /// Whose it is: of who named it since.
    worker: WorkerId,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the worker's hands.
    Running,
    /// In the worker's hands for longer than it should be; others may have it too.
    Overdue,
    /// Not heard of any more; the worker may come back with it.
    Lost,
    /// The worker could not do it.
    Failed,
    /// The worker gave it back, or it was taken from its queue. Of these only the last of each worker is remembered.
    Returned,
}

impl State {
    const fn is_held(self) -> bool {
        matches!(self, Self::Running | Self::Overdue)
    }
}

impl Part {
    pub(crate) fn new(question: QuestionId, ask: Question, priority: u64) -> Self {
        let (role, barred, attempts) = (Role::Whole, Vec::new(), Vec::new());
        Self {
            question,
            ask,
            role,
            priority,
            issued: 0,
            answered: None,
            barred,
            attempts,
        }
    }

    /// Hands it out; the number of the attempt.
    pub(crate) fn issue(&mut self, worker: WorkerId) -> u32 {
        self.issued = self.issued.saturating_add(1);
        self.attempts.push(Attempt {
            number: self.issued,
            to: worker,
            worker,
            state: State::Running,
        });
        self.issued
    }

    /// Whether this attempt was handed out to this worker, or regained by it, and may still be its own.
    pub(crate) fn was_given(&self, attempt: u32, worker: WorkerId) -> bool {
        let is_its = |a: &Attempt| a.number == attempt && (a.worker == worker || a.to == worker);
        !self.barred.contains(&worker) && self.attempts.iter().any(is_its)
    }

    /// Whether this attempt was handed out to this worker.
    pub(crate) fn was_issued(&self, attempt: u32, worker: WorkerId) -> bool {
        self.attempts
            .iter()
            .any(|a| a.number == attempt && a.to == worker)
    }

    /// Who has it in hand.
    pub(crate) fn holders(&self) -> Vec<WorkerId> {
        self.attempts
            .iter()
            .filter(|a| a.state.is_held())
            .map(|a| a.worker)
            .collect()
    }

    /// Whether somebody has it in hand who is not behind.
    pub(crate) fn is_running(&self) -> bool {
        self.attempts.iter().any(|a| a.state == State::Running)
    }

    pub(crate) fn failures(&self) -> u32 {
        self.count(State::Failed)
    }

    /// Workers that could not do it, each once.
    pub(crate) fn failed_on(&self) -> BTreeSet<WorkerId> {
        self.attempts
            .iter()
            .filter(|a| a.state == State::Failed)
            .map(|a| a.worker)
            .collect()
    }

    pub(crate) fn losses(&self) -> u32 {
        self.count(State::Lost)
    }

    /// Workers that have not brought it to an end, each as often as it tried.
    pub(crate) fn tried(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.attempts
            .iter()
            .filter(|a| matches!(a.state, State::Lost | State::Failed))
            .map(|a| a.worker)
    }

    /// The last attempt of this worker, if it was lost. What ended any other way does not come back.
    pub(crate) fn lost_by(&self, worker: WorkerId) -> Option<u32> {
        let last = self.attempts.iter().rev().find(|a| a.worker == worker);
        last.filter(|a| a.state == State::Lost).map(|a| a.number)
    }

    /// Whose an attempt is that runs, or may run unseen; none for one that has ended.
    pub(crate) fn owner(&self, attempt: u32) -> Option<WorkerId> {
        let may_run =
            |a: &&Attempt| a.number == attempt && (a.state.is_held() || a.state == State::Lost);
        self.attempts.iter().find(may_run).map(|a| a.worker)
    }

    pub(crate) fn regain(&mut self, attempt: u32, worker: WorkerId) {
        if let Some(known) = self.attempts.iter_mut().find(|a| a.number == attempt) {
            known.worker = worker;
            known.state = State::Running;
        }
    }

    /// The worker keeps it, and another may have it too.
    pub(crate) fn lapse(&mut self, worker: WorkerId) {
        self.end(worker, State::Overdue);
    }

    pub(crate) fn lose(&mut self, worker: WorkerId) {
        self.end(worker, State::Lost);
    }

    pub(crate) fn fail(&mut self, worker: WorkerId) {
        self.end(worker, State::Failed);
    }

    /// The worker gave it back, or it was taken from its queue: nobody's fault.
    pub(crate) fn give_back(&mut self, worker: WorkerId) {
        self.attempts
            .retain(|a| a.worker != worker || a.state != State::Returned);
        self.end(worker, State::Returned);
    }

    /// The verdicts on moves that were asked about; `None` where none is left although moves were named.
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

    fn end(&mut self, worker: WorkerId, state: State) {
        let running = |a: &&mut Attempt| a.worker == worker && a.state.is_held();
        self.attempts
            .iter_mut()
            .filter(running)
            .for_each(|a| a.state = state);
    }

    fn count(&self, state: State) -> u32 {
        self.attempts.iter().filter(|a| a.state == state).count() as u32
    }
}
