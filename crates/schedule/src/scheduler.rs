use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question, Variant};

use crate::questions::Inquiry;
use crate::tasks::Part;
use crate::workers::{Forecast, Roster, Waits, Worker};
use crate::{
    Capacity, Counts, Effect, Options, QuestionId, Report, Split, Suspension, TaskId, Totals,
    WorkerId, WorkerStatus,
};

/// The state machine. After every call, drain [`Scheduler::poll`]; wake up at [`Scheduler::deadline`] to call
/// [`Scheduler::tick`].
///
/// `now` is the time since any fixed moment; where it runs backwards it is taken to stand still. Every call costs
/// O(log n) in the number of workers, tasks and questions, times the number of tasks that it concerns.
///
/// Invariant: every part of an unfinished question is answered, in a worker's hands, or waiting; and a worker holds a
/// task just when the part's history says that it runs there.
#[derive(Debug)]
pub struct Scheduler {
    pub(crate) options: Options,
    pub(crate) now: Duration,
    next_id: u64,
    /// Handings-out so far; their order is the workers' turn.
    pub(crate) turn: u64,
    pub(crate) inquiries: BTreeMap<QuestionId, Inquiry>,
    pub(crate) parts: BTreeMap<TaskId, Part>,
    /// What nobody works on, most urgent first, eldest first.
    pub(crate) waiting: BTreeSet<(u64, TaskId)>,
    pub(crate) roster: Roster,
    /// Questions that every worker searches whole, and that are not answered.
    pub(crate) pools: BTreeSet<QuestionId>,
    /// How long tasks take.
    pub(crate) forecast: Forecast,
    pub(crate) effects: VecDeque<Effect>,
    pub(crate) totals: Totals,
    /// Nothing is handed out any more.
    pub(crate) is_retired: bool,
}

impl Scheduler {
    /// A scheduler that knows of no worker and no question.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            now: Duration::ZERO,
            next_id: options.first_id,
            turn: 0,
            inquiries: BTreeMap::new(),
            parts: BTreeMap::new(),
            waiting: BTreeSet::new(),
            roster: Roster::new(options.clone()),
            pools: BTreeSet::new(),
            forecast: Forecast::default(),
            effects: VecDeque::new(),
            totals: Totals::default(),
            is_retired: false,
            options,
        }
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
        self.advance(now);
        let id = QuestionId(self.fresh_id());
        self.inquiries
            .insert(id, Inquiry::new(question.clone(), shallow, split, priority));
        match split {
            Split::Shared => self.pool(id),
            Split::Never | Split::Seeded => _ = self.add_part(id, question, priority),
        }
        self.hand_out();
        id
    }

    /// Drops a question: its tasks are revoked, its reports acknowledged. Harmless for one that is not known any more.
    pub fn cancel(&mut self, now: Duration, id: QuestionId) {
        self.advance(now);
        let was_open = self
            .inquiries
            .get(&id)
            .is_some_and(|inquiry| !inquiry.is_finished());
        self.totals.cancelled += u64::from(was_open);
        self.close(id);
        self.hand_out();
    }

    /// The answer of a finished question is where it will not be lost: acknowledges its reports. Until then a report of
    /// one of its tasks that comes again stays unanswered, so that its worker keeps it. Harmless for a question that is
    /// unknown or unfinished.
    pub fn settle(&mut self, id: QuestionId) {
        if self.inquiries.get(&id).is_some_and(Inquiry::is_finished) {
            self.close(id);
        }
    }

    /// A worker is there, for the first time or again, and can take so much. `holding` names what it
    /// still has from before, with the attempt: begun, queued, or answered and not acknowledged. It keeps what nobody
    /// else has answered and is told to forget the rest; what it held before and does not name is given to others.
    pub fn join(
        &mut self,
        now: Duration,
        worker: WorkerId,
        capacity: impl Into<Capacity>,
        holding: &[(TaskId, u32)],
    ) {
        let bar = self
            .roster
            .get(worker)
            .and_then(|w| w.bar)
            .map(|(bar, _)| bar);
        self.join_suspended(now, worker, capacity, holding, bar);
    }

    /// The same with a [bar](Self::suspend) from the beginning, or with none.
    pub fn join_suspended(
        &mut self,
        now: Duration,
        worker: WorkerId,
        capacity: impl Into<Capacity>,
        holding: &[(TaskId, u32)],
        bar: Option<Suspension>,
    ) {
        let (now, capacity) = (self.advance(now), capacity.into());
        if self.roster.get(worker).is_none() {
            self.roster
                .insert(worker, Worker::new(now, capacity.clone()));
        }
        let before = self.roster.with(worker, |w| {
            (w.slots, w.plays, w.is_draining) = (capacity.slots, capacity.plays, false);
            w.set_bar(now, bar);
            w.sign(now);
            w.tasks()
        });
        for &(task, attempt) in holding {
            self.regain(worker, task, attempt);
        }
        for task in before.into_iter().flatten() {
            if !holding
                .iter()
                .any(|&(named, attempt)| named == task && self.is_current(worker, task, attempt))
            {
                self.lose(worker, task);
            }
        }
        self.hand_out();
    }

    /// A worker's stream has ended. With a `goodbye` it will not come back and hands back all that it holds; without one
    /// its tasks are given to others, and it may take up again what is not answered when it [joins](Self::join).
    pub fn leave(&mut self, now: Duration, worker: WorkerId, goodbye: bool) {
        self.advance(now);
        for task in self.tasks_of(worker) {
            if goodbye {
                self.take_back(worker, task)
            } else {
                self.lose(worker, task)
            }
        }
        self.roster.remove(worker);
        self.hand_out();
    }

    /// A sign of life, with the positions visited so far in the tasks at hand; what is queued may be left out.
    pub fn heartbeat(&mut self, now: Duration, worker: WorkerId, progress: &[(TaskId, u64)]) {
        let now = self.advance(now);
        if self.roster.with(worker, |w| w.sign(now)).is_none() {
            return;
        }
        for &(task, nodes) in progress {
            if self.roster.with(worker, |w| w.progress(now, task, nodes)) != Some(true) {
                self.hear_of(worker, task);
            }
        }
        self.hand_out();
    }

    /// A worker has ended a task, and is ready for the next. Late, duplicate and unknown reports are harmless.
    ///
    /// Every report is acknowledged: at once where nothing more will be done with it, else when its question is
    /// [settled](Self::settle), [cancelled](Self::cancel) or set aside.
    pub fn report(
        &mut self,
        now: Duration,
        worker: WorkerId,
        task: TaskId,
        attempt: u32,
        report: Report,
    ) {
        let now = self.advance(now);
        self.roster.with(worker, |w| w.sign(now));
        match report {
            Report::Done(answer) => self.done(worker, task, attempt, answer),
            Report::HandedBack => self.handed_back(worker, task, attempt),
            Report::Failed(reason) => self.failed(worker, task, attempt, &reason),
        }
        self.hand_out();
    }

    /// Time has passed: finds workers that are silent, tasks that do not get on, and such as get on too slowly.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
        while let Some((_, worker)) = self.roster.alarm().filter(|(at, _)| *at <= self.now) {
            self.look_after(worker);
        }
        self.hand_out();
    }

    /// When to call [`Scheduler::tick`] if nothing else happens; `None` while there is nothing to wait for.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.roster.alarm().map(|(at, _)| at)
    }

    /// The next thing to do, in order; `None` when all is done.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Tasks that could be handed out at once if there were more questions: free slots and prefetch, less what waits.
    #[must_use]
    pub fn spare_capacity(&self) -> u64 {
        self.roster.room.saturating_sub(self.waiting.len() as u64)
    }

    /// The same of one variant's questions: only workers that play it count, and only what waits of it and is for anybody: what
    /// is for [others](Self::submit_excluding) may wait for one who gets nothing yet. Looks at all that waits.
    #[must_use]
    pub fn spare_capacity_for(&self, variant: Variant) -> u64 {
        let is_it = |part: &Part| part.barred.is_empty() && part.ask.position.variant() == variant;
        let is_of_it = |task: &TaskId| self.parts.get(task).is_some_and(is_it);
        let waiting = self
            .waiting
            .iter()
            .filter(|(_, task)| is_of_it(task))
            .count() as u64;
        self.roster.room_for(variant).saturating_sub(waiting)
    }

    /// All workers that have joined and not left, in the order of their names.
    pub fn workers(&self) -> impl Iterator<Item = WorkerStatus> + '_ {
        self.roster
            .iter()
            .map(|(id, worker)| worker.status(id, self.waits_for(worker)))
    }

    /// What a worker with a free slot does not get, if something waits.
    fn waits_for(&self, worker: &Worker) -> Option<Waits> {
        let plays = |task: &TaskId| {
            self.parts
                .get(task)
                .is_some_and(|part| worker.has(part.ask.position.variant()))
        };
        self.waiting.first()?;
        Some(if self.waiting.iter().any(|(_, task)| plays(task)) {
            Waits::Playable
        } else {
            Waits::Foreign
        })
    }

    /// How many there are of everything. Looks at every question.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let unsettled = self
            .inquiries
            .values()
            .filter(|inquiry| inquiry.is_finished())
            .count();
        Counts {
            workers: self.roster.len(),
            slots: self.roster.slots,
            open_questions: self.inquiries.len() - unsettled,
            unsettled_questions: unsettled,
            waiting_tasks: self.waiting.len(),
            leased_tasks: self.roster.load as usize,
            totals: self.totals,
        }
    }

    /// The time of the last event.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Moves the clock, never back; the time it is.
    pub(crate) fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    pub(crate) fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    pub(crate) fn tasks_of(&self, worker: WorkerId) -> Vec<TaskId> {
        self.roster
            .get(worker)
            .map(Worker::tasks)
            .unwrap_or_default()
    }

    pub(crate) fn add_part(
        &mut self,
        question: QuestionId,
        ask: Question,
        priority: u64,
    ) -> TaskId {
        let task = TaskId(self.fresh_id());
        self.parts.insert(task, Part::new(question, ask, priority));
        self.waiting.insert((priority, task));
        self.inquiries
            .entry(question)
            .and_modify(|inquiry| inquiry.parts.push(task));
        task
    }

    /// Forgets a question and all its parts.
    fn close(&mut self, id: QuestionId) {
        let Some(inquiry) = self.inquiries.remove(&id) else {
            return;
        };
        self.pools.remove(&id);
        for &task in &inquiry.parts {
            self.release(task, None);
            if let Some(part) = self.parts.remove(&task) {
                self.waiting.remove(&(part.priority, task));
            }
        }
        self.effects.extend(inquiry.into_receipts());
    }

    pub(crate) fn set_aside(&mut self, id: QuestionId, reason: String) {
        self.close(id);
        self.totals.set_aside += 1;
        self.effects.push_back(Effect::Failed {
            question: id,
            reason,
        });
    }
}
