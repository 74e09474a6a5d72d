//! What a coordinator knows, and what follows from each change of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kagetsu_book::Work;
use kagetsu_game::{Answer, Position, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message;
use kagetsu_schedule::{
    Effect, Options, QuestionId, Role, Scheduler, Suspension, Task, TaskId, WorkerId,
};
use prost::bytes::Bytes;

use crate::book::desk::KeeperDesk;
use crate::cluster::links::{Introduction, Links};
use crate::cluster::watched::Watched;
use crate::telemetry::metrics::Metrics;
use crate::verification::audit::Check;
use crate::verification::exam;
use crate::verification::prover::{Kept, Prover};
use crate::verification::trust::Trust;
use crate::verification::unheard::Unheard;

/// A question that a person asks goes before every position of a build.
pub(crate) const AT_ONCE: u64 = 0;

/// Why a question is asked.
pub(crate) enum Purpose {
    /// With the question, if its answer goes into the book.
    Analysis(Watched, Option<Question>),
    Build(Work),
    /// An answer of a build is asked for once more.
    Check(Box<Check>),
}

/// What a task at work is about.
pub(crate) struct Asked {
    pub(crate) question: QuestionId,
    /// Who has it, or had it last.
    pub(crate) worker: WorkerId,
    pub(crate) position: Position,
}

pub(crate) struct State {
    pub(crate) scheduler: Scheduler,
    /// When the state was last changed.
    pub(crate) now: Duration,
    /// The deadline that the clock waits for, if it waits for one.
    awaited: Option<Duration>,
    /// The coordinator is about to stop.
    pub(crate) is_retired: bool,
    pub(crate) trust: Trust,
    pub(crate) prover: Option<Prover>,
    pub(crate) links: Links,
    pub(crate) unheard: Unheard,
    pub(crate) purposes: BTreeMap<QuestionId, Purpose>,
    /// What each task at work is about, to hold its answer against.
    pub(crate) asked: BTreeMap<TaskId, Asked>,
    /// The tasks of each question that are at work, or were.
    tasks: BTreeMap<QuestionId, Vec<TaskId>>,
    /// Positions of which the replies are to be found out.
    pub(crate) keeper: Option<KeeperDesk>,
    metrics: Arc<Metrics>,
}

/// What a worker says that it holds from before.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Tasks of this life of the coordinator, with their attempts.
    pub(crate) ours: Vec<(TaskId, u32)>,
    /// Tasks of earlier ones, with what was asked.
    pub(crate) earlier: Vec<(TaskId, Option<Question>)>,
}

impl State {
    pub(crate) fn new(
        first_id: u64,
        keeper: Option<KeeperDesk>,
        trust: Trust,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            scheduler: Scheduler::new(Options {
                first_id,
                ..Options::default()
            }),
            now: Duration::ZERO,
            awaited: None,
            is_retired: false,
            trust,
            prover: None,
            links: Links::default(),
            unheard: Unheard::default(),
            purposes: BTreeMap::new(),
            asked: BTreeMap::new(),
            tasks: BTreeMap::new(),
            keeper,
            metrics,
        }
    }

    /// The scheduler's deadline, which the clock is to wait for.
    pub(crate) fn await_deadline(&mut self) -> Option<Duration> {
        self.awaited = self.scheduler.deadline();
        self.awaited
    }

    /// Whether the clock would come too late. Where the deadline went further off it only comes too early.
    pub(crate) fn has_nearer_deadline(&self) -> bool {
        let deadline = self.scheduler.deadline();
        deadline.is_some_and(|deadline| self.awaited.is_none_or(|awaited| deadline < awaited))
    }

    pub(crate) fn revoke(&mut self, worker: WorkerId, task: TaskId) {
        self.links
            .send(worker, Message::Revoke(v1::Revoke { task: task.0 }));
    }

    /// A worker that nobody knows yet is examined; one that has work at hand goes on with that meanwhile. One in quarantine
    /// stays there, and so does whoever comes under its name.
    pub(crate) fn receive(&mut self, worker: WorkerId, about: &Introduction) -> Option<Suspension> {
        if self.trust.is_blind {
            return None;
        }
        let links = &self.links;
        if self
            .trust
            .succeed(worker, about, |other| links.about(other).is_some())
        {
            self.keep_quarantine();
        }
        let record = self
            .trust
            .meet(worker, about, |other| links.about(other).is_some());
        if let Some(reason) = &record.quarantine {
            let name = &about.name;
            tracing::warn!(
                worker = name,
                reason,
                "a worker of this name is in quarantine: `kagetsu workers release`"
            );
            return Some(Suspension::Quarantine);
        }
        if record.exam.as_ref().is_some_and(BTreeSet::is_empty) {
            return None;
        }
        let tasks = exam::tasks(about);
        record.exam = Some(tasks.iter().map(|task| TaskId(task.task)).collect());
        let bar = (!tasks.is_empty()).then_some(Suspension::Qualification);
        tasks
            .into_iter()
            .for_each(|task| self.links.send(worker, Message::Task(task)));
        bar
    }

    pub(crate) fn acknowledge(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        let held = v1::Held {
            task: task.0,
            attempt,
            ..Default::default()
        };
        self.links.send(worker, Message::Acknowledge(held));
    }

    pub(crate) fn name(&self, worker: WorkerId) -> &str {
        self.links
            .about(worker)
            .map_or("unknown", |about| &about.name)
    }

    /// Does what the scheduler wants done.
    pub(crate) fn follow(&mut self) {
        let mut is_hungry = false;
        while let Some(effect) = self.scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => {
                    self.metrics.assigned(task.id);
                    let (id, attempt, job_id) =
                        (task.id.0, task.attempt, self.job_of(task.question));
                    tracing::debug!(
                        task = id,
                        attempt,
                        job_id,
                        worker = self.name(worker),
                        "a task is handed out"
                    );
                    let asked = Asked {
                        question: task.question,
                        worker,
                        position: task.part.position.clone(),
                    };
                    if self.asked.insert(task.id, asked).is_none() {
                        self.tasks.entry(task.question).or_default().push(task.id);
                    }
                    let message = v1::Task {
                        task: task.id.0,
                        attempt: task.attempt,
                        question: Some((&task.part).into()),
                        priority: task.priority,
                        role: role(&task),
                    };
                    self.links.send(worker, Message::Task(message));
                }
                Effect::Revoke { worker, task } => {
                    self.metrics.revoked(task);
                    self.revoke(worker, task);
                }
                Effect::Acknowledge {
                    worker,
                    task,
                    attempt,
                } => {
                    self.acknowledge(worker, task, attempt);
                }
                Effect::Progress { question, answer } => self.progress(question, answer),
                Effect::Finished {
                    question,
                    answer,
                    nodes,
                    by,
                } => self.finished(question, answer, nodes, by),
                Effect::Failed { question, reason } => self.failed(question, &reason),
            }
            is_hungry = true;
        }
        if self.is_retired {
            return;
        }
        if let Some(keeper) = self
            .keeper
            .as_ref()
            .filter(|_| is_hungry || self.scheduler.spare_capacity() > 0)
        {
            keeper.refill();
        }
    }

    /// What the table of one has learned goes to all who search the same with the same engine.
    pub(crate) fn relay(&self, worker: WorkerId, task: TaskId, notes: &Bytes) {
        let Some(asked) = self.asked.get(&task).filter(|asked| asked.worker == worker) else {
            return;
        };
        let engine = |worker| self.links.about(worker).map(|about| &about.engine);
        for task in self.tasks.get(&asked.question).into_iter().flatten() {
            let Some(other) = self
                .asked
                .get(task)
                .map(|asked| asked.worker)
                .filter(|other| *other != worker)
            else {
                continue;
            };
            if engine(other) == engine(worker) {
                self.links.hint(
                    other,
                    Message::Notes(v1::Notes {
                        task: task.0,
                        notes: notes.clone(),
                    }),
                );
            }
        }
    }

    pub(crate) fn forget(&mut self, id: QuestionId) -> Option<Purpose> {
        for task in self.tasks.remove(&id).unwrap_or_default() {
            self.asked.remove(&task);
        }
        self.purposes.remove(&id)
    }

    fn progress(&mut self, id: QuestionId, answer: Answer) {
        if let Some(Purpose::Analysis(watched, _)) = self.purposes.get_mut(&id) {
            watched.reported(answer);
        }
    }

    /// The analysis that a task belongs to, if it does.
    pub(crate) fn watched(&mut self, task: TaskId) -> Option<&mut Watched> {
        let question = self.asked.get(&task)?.question;
        match self.purposes.get_mut(&question)? {
            Purpose::Analysis(watched, _) => Some(watched),
            Purpose::Build(_) | Purpose::Check(_) => None,
        }
    }

    /// The number of the job that asks a question, if one does.
    fn job_of(&self, id: QuestionId) -> Option<u32> {
        match self.purposes.get(&id)? {
            Purpose::Build(work) => Some(work.job.0),
            Purpose::Analysis(..) | Purpose::Check(_) => None,
        }
    }

    fn finished(&mut self, id: QuestionId, answer: Answer, nodes: u64, by: Vec<WorkerId>) {
        match self.forget(id) {
            Some(Purpose::Analysis(watched, Some(question))) if !answer.is_empty() => {
                let (answer, by) = watched.deepest(answer, by);
                self.keep(Box::new(Kept {
                    id,
                    question,
                    answer,
                    nodes,
                    by,
                    watched,
                }));
            }
            Some(Purpose::Analysis(watched, _)) => {
                let (answer, _) = watched.deepest(answer, by);
                watched.end(Ok((answer, nodes)));
                self.scheduler.settle(id);
            }
            Some(Purpose::Build(work)) => self.answered(id, work, answer, by),
            Some(Purpose::Check(check)) => self.checked(id, check, answer, by),
            None => self.scheduler.settle(id),
        }
    }

    fn failed(&mut self, id: QuestionId, reason: &str) {
        match self.forget(id) {
            Some(Purpose::Analysis(watched, _)) => watched.end(Err(reason.to_string())),
            Some(Purpose::Build(work)) => {
                tracing::warn!(position = %work.question.position, reason, "a position is set aside");
                if let Some(keeper) = &self.keeper {
                    keeper.set_aside(work, reason.to_string());
                }
            }
            Some(Purpose::Check(check)) => self.unchecked(*check),
            None => {}
        }
    }
}

/// The place of a position among all that wait: by its job's priority, then by its own; every question of a person before.
pub(crate) fn urgency(work: &Work) -> u64 {
    /// Of those that a job has, so many are told apart.
    const PLACES: u64 = 1 << 56;
    let turn = u64::from(work.turn.abs_diff(i8::MAX));
    AT_ONCE + 1 + turn * PLACES + work.priority.min(PLACES - 2)
}

/// What a task is, in the words of the wire.
fn role(task: &Task) -> Option<v1::task::Role> {
    match task.role {
        Role::Whole => None,
        Role::Member { number, of } => Some(v1::task::Role::Member(v1::Member {
            number: number.into(),
            of: of.into(),
        })),
    }
}
