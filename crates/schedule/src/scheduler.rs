use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::questions::QuestionState;
use crate::tasks::TaskState;
use crate::workers::{LatencyEstimate, Roster, Worker};
use crate::{
    Capacity, Counts, Effect, Idle, Options, QuestionId, Report, Split, TaskId, Totals, WorkerId,
    WorkerStatus,
};

/// The state machine. Drain [`Scheduler::poll`] after every call, and call [`Scheduler::tick`] at
/// [`Scheduler::deadline`].
///
/// `now` is the time since any fixed moment; a time before the last one counts as the last one. A
/// call costs O(log n) in the number of workers, tasks and questions for each task that it
/// concerns.
///
/// Each question carries a payload of its caller until the caller [takes](Self::take_payload) it,
/// or the question has gone.
///
/// Invariants: every task of an unfinished question is answered, leased or waiting; a worker holds
/// a lease exactly when the task's history says so.
#[derive(Debug)]
pub struct Scheduler<P = ()> {
    pub(crate) options: Options,
    pub(crate) now: Duration,
    next_id: u64,
    /// Number of assignments so far; orders workers by their last assignment.
    pub(crate) sequence: u64,
    pub(crate) questions: BTreeMap<QuestionId, QuestionState<P>>,
    pub(crate) tasks: BTreeMap<TaskId, TaskState>,
    /// Tasks without a running lease, by priority, then by age.
    pub(crate) waiting: BTreeSet<(u64, TaskId)>,
    pub(crate) roster: Roster,
    /// Unanswered questions that every worker searches whole.
    pub(crate) shared_searches: BTreeSet<QuestionId>,
    /// Estimates how long tasks take.
    pub(crate) latency: LatencyEstimate,
    pub(crate) effects: VecDeque<Effect<P>>,
    pub(crate) totals: Totals,
    /// No more tasks are assigned.
    pub(crate) is_retired: bool,
}

impl<P> Scheduler<P> {
    /// Creates a scheduler without workers and questions.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            now: Duration::ZERO,
            next_id: options.first_id,
            sequence: 0,
            questions: BTreeMap::new(),
            tasks: BTreeMap::new(),
            waiting: BTreeSet::new(),
            roster: Roster::new(options.clone()),
            shared_searches: BTreeSet::new(),
            latency: LatencyEstimate::default(),
            effects: VecDeque::new(),
            totals: Totals::default(),
            is_retired: false,
            options,
        }
    }

    /// Accepts a question. `shallow` is the 2-ply answer: its first move is the seed of every part,
    /// and its order is the order of the root moves. It may be empty if the question is not to be
    /// split. A lower `priority` is done first; equal priorities are done in the order of
    /// submission.
    ///
    /// Exactly one [`Effect::Finished`] or [`Effect::Failed`] follows, unless the question is
    /// [cancelled](Self::cancel).
    pub fn submit(
        &mut self,
        now: Duration,
        question: Question,
        shallow: Answer,
        split: Split,
        priority: u64,
        payload: P,
    ) -> QuestionId {
        let state = QuestionState::new(question.clone(), shallow, split, priority, payload);
        let id = self.open(now, state);
        match split {
            Split::Shared => self.start_shared_search(id),
            Split::Never | Split::Seeded => _ = self.add_task(id, question, priority),
        }
        self.assign_waiting();
        id
    }

    /// Drops a question: revokes its tasks and acknowledges its reports. Returns its payload,
    /// unless that was taken. Ignores an unknown question.
    pub fn cancel(&mut self, now: Duration, id: QuestionId) -> Option<P> {
        self.advance(now);
        self.totals.cancelled += u64::from(self.is_open(id));
        let payload = self.close(id);
        self.assign_waiting();
        payload
    }

    /// Whether a question is known and not answered.
    #[must_use]
    pub fn is_open(&self, id: QuestionId) -> bool {
        self.questions
            .get(&id)
            .is_some_and(|state| !state.is_finished())
    }

    /// Returns the payload of a question, unless that was taken.
    pub fn payload_mut(&mut self, id: QuestionId) -> Option<&mut P> {
        self.questions.get_mut(&id)?.payload.as_mut()
    }

    /// Takes the payload of a question.
    pub fn take_payload(&mut self, id: QuestionId) -> Option<P> {
        self.questions.get_mut(&id)?.payload.take()
    }

    /// Returns the unanswered questions with their payloads.
    pub fn open_payloads(&self) -> impl Iterator<Item = (QuestionId, &P)> {
        let open = self
            .questions
            .iter()
            .filter(|(_, state)| !state.is_finished());
        open.filter_map(|(id, state)| Some((*id, state.payload.as_ref()?)))
    }

    /// Returns the question that a task belongs to; `None` for an unknown task.
    #[must_use]
    pub fn question_of(&self, task: TaskId) -> Option<QuestionId> {
        self.tasks.get(&task).map(|state| state.question)
    }

    /// Returns the content of a task that a worker has or had, and when it was assigned.
    #[must_use]
    pub fn assignment(&self, worker: WorkerId, task: TaskId) -> Option<(&Question, Duration)> {
        let state = self.tasks.get(&task)?;
        Some((&state.ask, state.assigned_at(worker)?))
    }

    /// Whether a report on this attempt of a worker counts: the task is not answered yet.
    #[must_use]
    pub fn awaits(&self, worker: WorkerId, task: TaskId, attempt: u32) -> bool {
        let is_open =
            |state: &TaskState| state.answered.is_none() && state.was_given(attempt, worker);
        self.tasks.get(&task).is_some_and(is_open)
    }

    /// Returns the leases on all tasks of the question that a task belongs to.
    #[must_use]
    pub fn leases_beside(&self, task: TaskId) -> Vec<(WorkerId, TaskId)> {
        let question = self
            .question_of(task)
            .and_then(|id| self.questions.get(&id));
        let tasks = question.map_or(&[][..], |state| &state.tasks);
        let leases = |task: &TaskId| {
            let holders = self.tasks.get(task).map(TaskState::holders);
            holders
                .unwrap_or_default()
                .into_iter()
                .map(|holder| (holder, *task))
                .collect::<Vec<_>>()
        };
        tasks.iter().flat_map(leases).collect()
    }

    /// Acknowledges the reports of a finished question, once its answer is stored safely. Until
    /// then a repeated report stays unacknowledged, so that its worker keeps it. Ignores a question
    /// that is unknown or unfinished.
    pub fn settle(&mut self, id: QuestionId) {
        if self
            .questions
            .get(&id)
            .is_some_and(QuestionState::is_finished)
        {
            self.close(id);
        }
    }

    /// Adds a worker, or updates one that reconnects. `holding` names the tasks, with attempts,
    /// that it still has: begun, queued, or answered and not acknowledged. It keeps those that no
    /// other worker has answered; the rest is revoked. Tasks that it held before and does not name
    /// go to others.
    pub fn join(
        &mut self,
        now: Duration,
        worker: WorkerId,
        capacity: impl Into<Capacity>,
        holding: &[(TaskId, u32)],
    ) {
        let (now, capacity) = (self.advance(now), capacity.into());
        if self.roster.get(worker).is_none() {
            self.roster
                .insert(worker, Worker::new(now, capacity.clone()));
        }
        let before = self.roster.with(worker, |w| {
            (w.capacity, w.is_draining) = (capacity, false);
            w.heard_from(now);
            w.tasks()
        });
        for &(task, attempt) in holding {
            self.reclaim(worker, task, attempt);
        }
        for task in before.into_iter().flatten() {
            if !holding
                .iter()
                .any(|&(named, attempt)| named == task && self.is_current(worker, task, attempt))
            {
                self.lose(worker, task);
            }
        }
        self.assign_waiting();
    }

    /// Removes a worker. With a `goodbye` it returns its tasks for good; without one its tasks go
    /// to others, and it may reclaim those still unanswered when it [joins](Self::join) again.
    pub fn leave(&mut self, now: Duration, worker: WorkerId, goodbye: bool) {
        self.advance(now);
        for task in self.tasks_of(worker) {
            if goodbye {
                self.return_task(worker, task)
            } else {
                self.lose(worker, task)
            }
        }
        self.roster.remove(worker);
        self.assign_waiting();
    }

    /// Records a sign of life, with the positions visited so far in the running tasks. Queued tasks
    /// may be left out.
    pub fn heartbeat(&mut self, now: Duration, worker: WorkerId, progress: &[(TaskId, u64)]) {
        let now = self.advance(now);
        if self.roster.with(worker, |w| w.heard_from(now)).is_none() {
            return;
        }
        for &(task, nodes) in progress {
            if self.roster.with(worker, |w| w.progress(now, task, nodes)) != Some(true) {
                self.unexpected_progress(worker, task);
            }
        }
        self.assign_waiting();
    }

    /// Records the end of a task. Late, duplicate and unknown reports are harmless.
    ///
    /// Every report is acknowledged: at once if it has no further use, else when its question is
    /// [settled](Self::settle), [cancelled](Self::cancel) or dropped.
    pub fn report(
        &mut self,
        now: Duration,
        worker: WorkerId,
        task: TaskId,
        attempt: u32,
        report: Report,
    ) {
        let now = self.advance(now);
        self.roster.with(worker, |w| w.heard_from(now));
        match report {
            Report::Done(answer) => self.done(worker, task, attempt, answer),
            Report::HandedBack => self.handed_back(worker, task, attempt),
            Report::Failed(reason) => self.failed(worker, task, attempt, &reason),
        }
        self.assign_waiting();
    }

    /// Advances the time: finds silent workers, stalled tasks and slow tasks.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
        while let Some((_, worker)) = self.roster.alarm().filter(|(at, _)| *at <= self.now) {
            self.check_worker(worker);
        }
        self.assign_waiting();
    }

    /// Returns when to call [`Scheduler::tick`] if no other event comes before; `None` if no timer
    /// runs.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.roster.alarm().map(|(at, _)| at)
    }

    /// Returns the next effect, in order; `None` when there is none.
    pub fn poll(&mut self) -> Option<Effect<P>> {
        self.effects.pop_front()
    }

    /// Whether a worker has a free slot or prefetches more, however many tasks wait.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.roster.room > 0
    }

    /// Returns how many more tasks could be assigned at once: free slots and prefetch, less the
    /// waiting tasks.
    #[must_use]
    pub fn spare_capacity(&self) -> u64 {
        self.roster.room.saturating_sub(self.waiting.len() as u64)
    }

    /// Returns the spare capacity for questions of one variant: that of the workers that play it,
    /// less its waiting tasks. Tasks that [exclude](Self::submit_check) workers do not count,
    /// since they may wait for a worker that is not available yet. Costs O(waiting tasks).
    #[must_use]
    pub fn spare_capacity_for(&self, variant: Variant) -> u64 {
        let is_it = |state: &TaskState| {
            state.excluded.is_empty() && state.ask.position.variant() == variant
        };
        let is_of_it = |task: &TaskId| self.tasks.get(task).is_some_and(is_it);
        let waiting = self
            .waiting
            .iter()
            .filter(|(_, task)| is_of_it(task))
            .count() as u64;
        self.roster.room_for(variant).saturating_sub(waiting)
    }

    /// Returns all workers, by id.
    pub fn workers(&self) -> impl Iterator<Item = WorkerStatus> + '_ {
        self.roster
            .iter()
            .map(|(id, worker)| worker.status(id, self.passes_over(worker)))
    }

    /// Returns the reason why a sound worker with a free slot gets none of the waiting tasks.
    fn passes_over(&self, worker: &Worker) -> Idle {
        let plays = |task: &TaskId| {
            self.tasks
                .get(task)
                .is_some_and(|state| worker.capacity.has(state.ask.position.variant()))
        };
        if self.waiting.is_empty() {
            Idle::NoTasks
        } else if self.waiting.iter().any(|(_, task)| plays(task)) {
            Idle::Avoided
        } else {
            Idle::UnsupportedVariant
        }
    }

    /// Counts workers, questions and tasks. Costs O(questions).
    #[must_use]
    pub fn counts(&self) -> Counts {
        let unsettled = self
            .questions
            .values()
            .filter(|question_state| question_state.is_finished())
            .count();
        Counts {
            workers: self.roster.len(),
            slots: self.roster.slots,
            open_questions: self.questions.len() - unsettled,
            unsettled_questions: unsettled,
            waiting_tasks: self.waiting.len(),
            leased_tasks: self.roster.load as usize,
            totals: self.totals,
        }
    }

    /// Returns the time of the last event.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Moves the clock forward, never back, and returns the current time.
    pub(crate) fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    pub(crate) fn next_task_or_question_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    /// Returns the tasks that a worker holds.
    #[must_use]
    pub fn tasks_of(&self, worker: WorkerId) -> Vec<TaskId> {
        self.roster
            .get(worker)
            .map(Worker::tasks)
            .unwrap_or_default()
    }

    pub(crate) fn add_task(
        &mut self,
        question: QuestionId,
        ask: Question,
        priority: u64,
    ) -> TaskId {
        let task = TaskId(self.next_task_or_question_id());
        self.tasks
            .insert(task, TaskState::new(question, ask, priority));
        self.waiting.insert((priority, task));
        self.questions
            .entry(question)
            .and_modify(|question_state| question_state.tasks.push(task));
        task
    }

    /// Adds a question without tasks.
    pub(crate) fn open(&mut self, now: Duration, state: QuestionState<P>) -> QuestionId {
        self.advance(now);
        let id = QuestionId(self.next_task_or_question_id());
        self.questions.insert(id, state);
        id
    }

    /// Adds a question with one task.
    pub(crate) fn open_unsplit(
        &mut self,
        now: Duration,
        question: Question,
        priority: u64,
        payload: P,
    ) -> (QuestionId, TaskId) {
        let (shallow, split) = (Answer::new(), Split::Never);
        let state = QuestionState::new(question.clone(), shallow, split, priority, payload);
        let id = self.open(now, state);
        (id, self.add_task(id, question, priority))
    }

    /// Removes a question and all its tasks. Returns its payload.
    fn close(&mut self, id: QuestionId) -> Option<P> {
        let question_state = self.questions.remove(&id)?;
        self.shared_searches.remove(&id);
        for &task in &question_state.tasks {
            self.end_task(task);
        }
        for (worker, task, attempt) in question_state.acknowledgements {
            self.acknowledge(worker, task, attempt);
        }
        question_state.payload
    }

    pub(crate) fn set_aside(&mut self, id: QuestionId, reason: String) {
        let payload = self.close(id);
        self.totals.set_aside += 1;
        self.effects.push_back(Effect::Failed {
            question: id,
            payload,
            reason,
        });
    }
}
