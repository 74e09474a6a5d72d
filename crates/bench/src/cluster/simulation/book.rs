//! A simulated book: the real scheduler, and workers with recorded task times.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Effect, Options, QuestionId, Report, Scheduler, Split, TaskId, WorkerId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::clock::EventQueue;

/// The properties of a simulated cluster.
#[derive(Clone, Debug)]
pub(crate) struct BookTerms {
    /// Times of tasks. Each task gets one of them at random.
    pub(crate) tasks: Vec<Duration>,
    /// Time of a message, one way.
    pub(crate) latency: Duration,
    /// Time of the coordinator for one report and its effects.
    pub(crate) service: Duration,
    /// The time of one commit of the journal.
    pub(crate) commit: Duration,
    /// Positions of one commit at most.
    pub(crate) commit_batch: usize,
    /// Mean life of a worker. It comes back after a tenth of that.
    pub(crate) life: Option<Duration>,
    /// Time to observe, once every worker has its first task.
    pub(crate) length: Duration,
    pub(crate) seed: u64,
}

/// Full commits that the writer of a book may be ahead of the journal.
const MAX_BATCHES_AHEAD: usize = 4;

/// The result of a simulated run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BookRun {
    pub(crate) positions: u64,
    pub(crate) time: Duration,
    /// Time spent on tasks that were answered.
    pub(crate) useful: Duration,
    /// Time of all workers while they were connected.
    pub(crate) there: Duration,
    pub(crate) deaths: u64,
    /// Time of the real scheduler on this machine.
    pub(crate) scheduler: Duration,
}

enum BookEvent {
    Assigned(usize, u64, TaskId, u32),
    Revoked(usize, u64, TaskId),
    Ended(usize, u64, TaskId, u32),
    Reported(usize, TaskId, u32),
    Committed(usize),
    Died(usize, u64),
    Born(usize),
}

#[derive(Clone, Debug, Default)]
struct SimulatedWorker {
    /// Counts its lives. Events of an earlier life are ignored.
    life: u64,
    is_there: bool,
    since: Duration,
    running: Option<(TaskId, u32, Duration)>,
    queue: Vec<(TaskId, u32)>,
}

struct BookCluster<'a> {
    terms: &'a BookTerms,
    clock: EventQueue<BookEvent>,
    scheduler: Scheduler,
    workers: Vec<SimulatedWorker>,
    question: Question,
    dice: SmallRng,
    /// The time at which the coordinator has handled all reports so far.
    served: Duration,
    /// Questions whose answers wait for a commit, and those that are being committed.
    uncommitted: VecDeque<QuestionId>,
    is_committing: bool,
    run: BookRun,
}

pub(crate) fn run(workers: usize, terms: &BookTerms) -> Result<BookRun> {
    let question = Question::new(Position::start(Variant::FREESTYLE_15), Effort::depth(10));
    let options = Options {
        lease: Duration::MAX,
        stall_timeout: Duration::MAX,
        ..Options::default()
    };
    let mut cluster = BookCluster {
        terms,
        clock: EventQueue::new(),
        scheduler: Scheduler::new(options),
        workers: vec![SimulatedWorker::default(); workers],
        question,
        dice: SmallRng::seed_from_u64(terms.seed),
        served: Duration::ZERO,
        uncommitted: VecDeque::new(),
        is_committing: false,
        run: BookRun::default(),
    };
    // Workers come one after another, as they are started.
    for worker in 0..workers {
        let at = terms.tasks[0] * worker as u32 / workers as u32;
        cluster.clock.at(at, BookEvent::Born(worker));
    }
    let end = terms.tasks[0] + terms.length;
    loop {
        let event = cluster
            .clock
            .next()
            .context("the simulation has no next event")?;
        if cluster.clock.now > end {
            break;
        }
        cluster.happen(event);
    }
    for worker in cluster.workers.iter().filter(|worker| worker.is_there) {
        cluster.run.there += end - worker.since;
        // A task that runs at the end counts.
        cluster.run.useful += worker
            .running
            .map_or(Duration::ZERO, |(_, _, began)| end.saturating_sub(began));
    }
    Ok(BookRun {
        time: end,
        ..cluster.run
    })
}

impl BookCluster<'_> {
    fn happen(&mut self, event: BookEvent) {
        let now = self.clock.now;
        match event {
            BookEvent::Born(at) => {
                let worker = &mut self.workers[at];
                (worker.is_there, worker.since, worker.life) = (true, now, worker.life + 1);
                if let Some(life) = self.terms.life {
                    let unit: f64 = self.dice.random_range(1e-9..1.0);
                    let life = life.mul_f64(-unit.ln());
                    self.clock
                        .after(life, BookEvent::Died(at, self.workers[at].life));
                }
                self.decide(|scheduler| scheduler.join(now, WorkerId(at as u64), 1, &[]));
            }
            BookEvent::Died(at, life) if self.workers[at].life == life => {
                let worker = &mut self.workers[at];
                self.run.there += now - worker.since;
                self.run.deaths += 1;
                (worker.is_there, worker.running) = (false, None);
                worker.queue.clear();
                let life = self.terms.life.unwrap_or_default();
                self.clock.after(life / 10, BookEvent::Born(at));
                self.decide(|scheduler| scheduler.leave(now, WorkerId(at as u64), false));
            }
            BookEvent::Assigned(at, life, task, attempt) if self.is_there(at, life) => {
                self.workers[at].queue.push((task, attempt));
                self.begin(at);
            }
            BookEvent::Revoked(at, life, task) if self.is_there(at, life) => {
                self.workers[at].queue.retain(|(queued, _)| *queued != task);
                if self.workers[at]
                    .running
                    .is_some_and(|(running, ..)| running == task)
                {
                    self.workers[at].running = None;
                    self.begin(at);
                }
            }
            BookEvent::Ended(at, life, task, attempt) if self.is_there(at, life) => {
                if let Some((running, _, began)) = self.workers[at].running
                    && running == task
                {
                    self.run.useful += now - began;
                    self.workers[at].running = None;
                    // The coordinator handles one report at a time.
                    self.served = (now + self.terms.latency).max(self.served) + self.terms.service;
                    self.clock
                        .at(self.served, BookEvent::Reported(at, task, attempt));
                    self.begin(at);
                }
            }
            BookEvent::Committed(positions) => {
                self.run.positions += positions as u64;
                self.is_committing = false;
                let settled: Vec<QuestionId> = self.uncommitted.drain(..positions).collect();
                self.commit();
                self.decide(|scheduler| {
                    settled
                        .iter()
                        .for_each(|question| scheduler.settle(*question));
                });
            }
            BookEvent::Reported(at, task, attempt) => {
                let report = Report::Done(Answer::new());
                self.decide(|scheduler| {
                    scheduler.report(now, WorkerId(at as u64), task, attempt, report)
                });
            }
            BookEvent::Died(..)
            | BookEvent::Assigned(..)
            | BookEvent::Revoked(..)
            | BookEvent::Ended(..) => {}
        }
    }

    fn is_there(&self, at: usize, life: u64) -> bool {
        self.workers[at].is_there && self.workers[at].life == life
    }

    fn begin(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if worker.running.is_none() && !worker.queue.is_empty() {
            let (task, attempt) = worker.queue.remove(0);
            worker.running = Some((task, attempt, self.clock.now));
            let time = self.terms.tasks[self.dice.random_range(0..self.terms.tasks.len())];
            self.clock
                .after(time, BookEvent::Ended(at, worker.life, task, attempt));
        }
    }

    /// Begins to commit what waits, unless a commit runs.
    fn commit(&mut self) {
        if !self.is_committing && !self.uncommitted.is_empty() {
            self.is_committing = true;
            let positions = self.uncommitted.len().min(self.terms.commit_batch);
            self.clock
                .after(self.terms.commit, BookEvent::Committed(positions));
        }
    }

    /// Lets the scheduler decide, and gives it as many positions as it can hand out, as the
    /// coordinator does.
    fn decide(&mut self, decision: impl FnOnce(&mut Scheduler)) {
        let begun = Instant::now();
        let now = self.clock.now;
        decision(&mut self.scheduler);
        // A writer that is too far ahead of its commits hands out nothing.
        let is_behind = self.uncommitted.len() > MAX_BATCHES_AHEAD * self.terms.commit_batch;
        let capacity = if is_behind {
            0
        } else {
            self.scheduler.spare_capacity()
        };
        for _ in 0..capacity {
            self.scheduler
                .submit(now, self.question.clone(), Answer::new(), Split::Never, 1);
        }
        let effects: Vec<Effect> = std::iter::from_fn(|| self.scheduler.poll()).collect();
        for effect in effects {
            match effect {
                Effect::Assign { worker, task } => {
                    let at = worker.0 as usize;
                    let event =
                        BookEvent::Assigned(at, self.workers[at].life, task.id, task.attempt);
                    self.clock.after(self.terms.latency, event);
                }
                Effect::Revoke { worker, task } => {
                    let at = worker.0 as usize;
                    self.clock.after(
                        self.terms.latency,
                        BookEvent::Revoked(at, self.workers[at].life, task),
                    );
                }
                Effect::Finished { question, .. } => {
                    self.uncommitted.push_back(question);
                    self.commit();
                }
                _ => {}
            }
        }
        self.run.scheduler += begun.elapsed();
    }
}
