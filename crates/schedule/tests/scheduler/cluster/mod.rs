//! A cluster under a virtual clock: one scheduler, model workers, and a network that delays,
//! repeats and loses messages.
//!
//! The clock jumps to the next event. All randomness comes from one seed, so a seed names a run.

mod fault;
mod machine;
mod network;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kagetsu_game::{Answer, Question};
use kagetsu_schedule::{Effect, Options, QuestionId, Scheduler, Split, TaskId, WorkerId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

pub(crate) use fault::Fault;
use machine::Machine;
use network::Order;

use crate::engine;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) options: Options,
    /// Slots and speed (positions a second) of each worker.
    pub(crate) workers: Vec<(u32, u64)>,
    pub(crate) questions: Vec<PlannedQuestion>,
    pub(crate) faults: Vec<(Duration, Fault)>,
    /// Maximum latency of a message without a fault.
    pub(crate) latency: Duration,
    /// Whether reports and heartbeats may overtake each other, arrive twice, or arrive after their
    /// connection's end.
    pub(crate) is_chaotic: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedQuestion {
    pub(crate) at: Duration,
    pub(crate) question: Question,
    pub(crate) split: Split,
    pub(crate) priority: u64,
    /// Every worker fails at it.
    pub(crate) is_poison: bool,
    /// Maximum number of random failures and hang-ups; fewer than would drop the question.
    pub(crate) bad_luck: u32,
    pub(crate) cancelled_at: Option<Duration>,
}

/// The end of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Finished(Answer),
    Failed(String),
    Cancelled,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ends: Vec<Option<End>>,
    pub(crate) ended_at: Duration,
    /// Time at which the last question ended.
    pub(crate) answered_at: Duration,
    /// All effects with their times.
    pub(crate) trace: Vec<String>,
    /// Positions visited by all workers, wasted ones included.
    pub(crate) nodes: u64,
    pub(crate) scheduler: Scheduler,
}

#[derive(Debug)]
enum Event {
    Submit(usize),
    Cancel(usize),
    Settle(QuestionId),
    Tick,
    Fault(Fault),
    Network(network::Delivery),
    Machine(WorkerId, machine::Event),
}

/// The state of a run.
pub(crate) struct Cluster {
    plan: Plan,
    dice: SmallRng,
    now: Duration,
    next: u64,
    events: BTreeMap<(Duration, u64), Event>,
    scheduler: Scheduler,
    machines: BTreeMap<WorkerId, Machine>,
    /// The connection by which the coordinator knows each worker.
    connections: BTreeMap<WorkerId, u64>,
    submitted: BTreeMap<QuestionId, usize>,
    ends: Vec<Option<End>>,
    unsettled: BTreeSet<QuestionId>,
    parts: BTreeMap<TaskId, usize>,
    tick: Option<Duration>,
    trace: Vec<String>,
    nodes: u64,
    answered_at: Duration,
}

/// Far longer than any run takes.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Runs a plan until all questions have ended, all reports are acknowledged and no task runs.
pub(crate) fn run(plan: Plan) -> Outcome {
    let mut cluster = Cluster::new(plan);
    while !cluster.is_at_rest() {
        let ((at, _), event) = cluster.events.pop_first().expect("machines beat for ever");
        assert!(
            at < LIMIT,
            "seed {}: the cluster does not come to rest: {:?}",
            cluster.plan.seed,
            cluster.scheduler.counts()
        );
        cluster.now = at;
        cluster.happen(event);
        cluster.carry_out();
    }
    Outcome {
        ends: cluster.ends,
        ended_at: cluster.now,
        answered_at: cluster.answered_at,
        trace: cluster.trace,
        nodes: cluster.nodes,
        scheduler: cluster.scheduler,
    }
}

impl Cluster {
    fn new(plan: Plan) -> Self {
        let mut cluster = Self {
            dice: SmallRng::seed_from_u64(plan.seed),
            now: Duration::ZERO,
            next: 0,
            events: BTreeMap::new(),
            scheduler: Scheduler::new(plan.options.clone()),
            machines: BTreeMap::new(),
            connections: BTreeMap::new(),
            submitted: BTreeMap::new(),
            ends: vec![None; plan.questions.len()],
            unsettled: BTreeSet::new(),
            parts: BTreeMap::new(),
            tick: None,
            trace: Vec::new(),
            nodes: 0,
            answered_at: Duration::ZERO,
            plan,
        };
        for (id, (slots, speed)) in (1..).map(WorkerId).zip(cluster.plan.workers.clone()) {
            cluster.machines.insert(id, Machine::new(slots, speed));
            cluster.schedule(Duration::ZERO, Event::Machine(id, machine::Event::Start));
        }
        for (index, planned) in cluster.plan.questions.clone().into_iter().enumerate() {
            cluster.schedule(planned.at, Event::Submit(index));
            planned
                .cancelled_at
                .into_iter()
                .for_each(|at| cluster.schedule(at, Event::Cancel(index)));
        }
        for (at, fault) in cluster.plan.faults.clone() {
            cluster.schedule(at, Event::Fault(fault));
        }
        cluster
    }

    fn schedule(&mut self, at: Duration, event: Event) {
        self.next += 1;
        self.events.insert((at, self.next), event);
    }

    fn is_at_rest(&self) -> bool {
        self.ends.iter().all(Option::is_some)
            && self.unsettled.is_empty()
            && self.machines.values().all(Machine::is_at_rest)
            && self
                .events
                .values()
                .all(|event| matches!(event, Event::Tick | Event::Machine(..) | Event::Network(_)))
            && !self
                .events
                .values()
                .any(|event| matches!(event, Event::Network(delivery) if delivery.matters()))
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Submit(index) => self.submit(index),
            Event::Cancel(index) => self.cancel(index),
            Event::Settle(question) => {
                self.unsettled.remove(&question);
                self.scheduler.settle(question);
            }
            Event::Tick => {
                self.tick = None;
                self.scheduler.tick(self.now);
            }
            Event::Fault(fault) => self.strike(fault),
            Event::Network(delivery) => self.deliver(delivery),
            Event::Machine(worker, event) => self.step(worker, event),
        }
    }

    fn submit(&mut self, index: usize) {
        let PlannedQuestion {
            question,
            split,
            priority,
            ..
        } = self.plan.questions[index].clone();
        let shallow = engine::shallow(&question);
        let id = self
            .scheduler
            .submit(self.now, question, shallow, split, priority, ());
        self.submitted.insert(id, index);
    }

    fn cancel(&mut self, index: usize) {
        let id = self
            .submitted
            .iter()
            .find(|(_, other)| **other == index)
            .map(|(id, _)| *id);
        if let (Some(id), None) = (id, &self.ends[index]) {
            self.ends[index] = Some(End::Cancelled);
            self.scheduler.cancel(self.now, id);
        }
    }

    /// Carries out the scheduler's effects and sets its timer.
    fn carry_out(&mut self) {
        while let Some(effect) = self.scheduler.poll() {
            self.trace
                .push(format!("{:?} {}", self.now, brief(&effect)));
            match effect {
                Effect::Assign { worker, task } => {
                    self.parts.insert(
                        task.id,
                        self.submitted
                            .get(&task.question)
                            .copied()
                            .unwrap_or(self.submitted.len()),
                    );
                    self.tell(worker, Order::Assign(task));
                }
                Effect::Revoke { worker, task } => self.tell(worker, Order::Revoke(task)),
                Effect::Acknowledge {
                    worker,
                    task,
                    attempt,
                } => self.tell(worker, Order::Acknowledge(task, attempt)),
                Effect::Progress { .. } | Effect::Behind { .. } => {}
                Effect::Finished {
                    question, answer, ..
                } => {
                    self.end(question, End::Finished(answer));
                    self.unsettled.insert(question);
                    let sync = self.now + Duration::from_millis(self.dice.random_range(1..20));
                    self.schedule(sync, Event::Settle(question));
                }
                Effect::Failed {
                    question, reason, ..
                } => self.end(question, End::Failed(reason)),
            }
        }
        let deadline = self.scheduler.deadline();
        if let Some(at) = deadline.filter(|at| self.tick.is_none_or(|set| *at < set)) {
            self.tick = Some(at);
            self.schedule(at.max(self.now), Event::Tick);
        }
    }

    fn end(&mut self, question: QuestionId, end: End) {
        let index = self.submitted[&question];
        assert_eq!(
            self.ends[index], None,
            "seed {}: {question} ends twice",
            self.plan.seed
        );
        self.ends[index] = Some(end);
        self.answered_at = self.now;
    }
}

fn brief(effect: &Effect) -> String {
    match effect {
        Effect::Assign { worker, task } => {
            format!(
                "{worker} <- {} attempt {} of {}, {} moves",
                task.id,
                task.attempt,
                task.question,
                task.part.moves.len()
            )
        }
        Effect::Revoke { worker, task } => format!("{worker} drop {task}"),
        Effect::Acknowledge {
            worker,
            task,
            attempt,
        } => format!("{worker} forget {task} attempt {attempt}"),
        Effect::Progress { question, answer } => {
            format!("{question}: {} moves known", answer.len())
        }
        Effect::Finished {
            question,
            answer,
            nodes,
            ..
        } => {
            format!("{question} finished: {} moves, {nodes}", answer.len())
        }
        Effect::Behind { worker } => format!("{worker} is behind"),
        Effect::Failed {
            question, reason, ..
        } => format!("{question} failed: {reason}"),
    }
}
