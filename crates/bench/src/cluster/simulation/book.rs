//! A book: the real scheduler, and workers that take as long as tasks were seen to take.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Effect, Options, Report, Scheduler, Split, TaskId, WorkerId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::clock::Clock;

/// What a cluster is like.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// How long tasks take, one of them drawn for each.
    pub(crate) tasks: Vec<Duration>,
    /// One way of a message.
    pub(crate) latency: Duration,
    /// What the coordinator needs for one report and all that follows from it.
    pub(crate) service: Duration,
    /// How long a worker lives on the average; it is back after a tenth of that.
    pub(crate) life: Option<Duration>,
    /// How long to watch, once every worker has its first task.
    pub(crate) length: Duration,
    pub(crate) seed: u64,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) positions: u64,
    pub(crate) time: Duration,
    /// Time spent on tasks that were answered.
    pub(crate) useful: Duration,
    /// Time in which there was a worker.
    pub(crate) there: Duration,
    pub(crate) deaths: u64,
    /// What the real scheduler took on this machine.
    pub(crate) scheduler: Duration,
}

enum Event {
    Assigned(usize, u64, TaskId, u32),
    Revoked(usize, u64, TaskId),
    Ended(usize, u64, TaskId, u32),
    Reported(usize, TaskId, u32),
    Died(usize, u64),
    Born(usize),
}

#[derive(Clone, Debug, Default)]
struct Worker {
    /// Counts its lives; what is meant for one is nothing to the next.
    life: u64,
    is_there: bool,
    since: Duration,
    running: Option<(TaskId, u32, Duration)>,
    queue: Vec<(TaskId, u32)>,
}

struct Cluster<'a> {
    terms: &'a Terms,
    clock: Clock<Event>,
    scheduler: Scheduler,
    workers: Vec<Worker>,
    question: Question,
    dice: SmallRng,
    /// Until when the coordinator is at work on what came before.
    served: Duration,
    run: Run,
}

pub(crate) fn run(workers: usize, terms: &Terms) -> Result<Run> {
    let question = Question::new(Position::start(Variant::FREESTYLE_15), Effort::depth(10));
    let options = Options {
        lease: Duration::MAX,
        stall_timeout: Duration::MAX,
        ..Options::default()
    };
    let mut cluster = Cluster {
        terms,
        clock: Clock::new(),
        scheduler: Scheduler::new(options),
        workers: vec![Worker::default(); workers],
        question,
        dice: SmallRng::seed_from_u64(terms.seed),
        served: Duration::ZERO,
        run: Run::default(),
    };
    // Workers come one after another, as they are started.
    for worker in 0..workers {
        let at = terms.tasks[0] * worker as u32 / workers as u32;
        cluster.clock.at(at, Event::Born(worker));
    }
    let end = terms.tasks[0] + terms.length;
    loop {
        let event = cluster.clock.next().context("nobody has anything to do")?;
        if cluster.clock.now > end {
            break;
        }
        cluster.happen(event);
    }
    for worker in cluster.workers.iter().filter(|worker| worker.is_there) {
        cluster.run.there += end - worker.since;
        // What is at work at the end is not lost.
        cluster.run.useful += worker
            .running
            .map_or(Duration::ZERO, |(_, _, began)| end.saturating_sub(began));
    }
    Ok(Run {
        time: end,
        ..cluster.run
    })
}

impl Cluster<'_> {
    fn happen(&mut self, event: Event) {
        let now = self.clock.now;
        match event {
            Event::Born(at) => {
                let worker = &mut self.workers[at];
                (worker.is_there, worker.since, worker.life) = (true, now, worker.life + 1);
                if let Some(life) = self.terms.life {
                    let unit: f64 = self.dice.random_range(1e-9..1.0);
                    let life = life.mul_f64(-unit.ln());
                    self.clock
                        .after(life, Event::Died(at, self.workers[at].life));
                }
                self.decide(|scheduler| scheduler.join(now, WorkerId(at as u64), 1, &[]));
            }
            Event::Died(at, life) if self.workers[at].life == life => {
                let worker = &mut self.workers[at];
                self.run.there += now - worker.since;
                self.run.deaths += 1;
                (worker.is_there, worker.running) = (false, None);
                worker.queue.clear();
                let life = self.terms.life.unwrap_or_default();
                self.clock.after(life / 10, Event::Born(at));
                self.decide(|scheduler| scheduler.leave(now, WorkerId(at as u64), false));
            }
            Event::Assigned(at, life, task, attempt) if self.is_there(at, life) => {
                self.workers[at].queue.push((task, attempt));
                self.begin(at);
            }
            Event::Revoked(at, life, task) if self.is_there(at, life) => {
                self.workers[at].queue.retain(|(queued, _)| *queued != task);
                if self.workers[at]
                    .running
                    .is_some_and(|(running, ..)| running == task)
                {
                    self.workers[at].running = None;
                    self.begin(at);
                }
            }
            Event::Ended(at, life, task, attempt) if self.is_there(at, life) => {
                if let Some((running, _, began)) = self.workers[at].running
                    && running == task
                {
                    self.run.useful += now - began;
                    self.workers[at].running = None;
                    // The coordinator hears one at a time.
                    self.served = (now + self.terms.latency).max(self.served) + self.terms.service;
                    self.clock
                        .at(self.served, Event::Reported(at, task, attempt));
                    self.begin(at);
                }
            }
            Event::Reported(at, task, attempt) => {
                self.run.positions += 1;
                let report = Report::Done(Answer::new());
                self.decide(|scheduler| {
                    scheduler.report(now, WorkerId(at as u64), task, attempt, report)
                });
            }
            Event::Died(..) | Event::Assigned(..) | Event::Revoked(..) | Event::Ended(..) => {}
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
                .after(time, Event::Ended(at, worker.life, task, attempt));
        }
    }

    /// The scheduler decides, and gets as many positions as it could hand out, as the keeper of a book gives it.
    fn decide(&mut self, decision: impl FnOnce(&mut Scheduler)) {
        let begun = Instant::now();
        let now = self.clock.now;
        decision(&mut self.scheduler);
        for _ in 0..self.scheduler.spare_capacity() {
            self.scheduler
                .submit(now, self.question.clone(), Answer::new(), Split::Never, 1);
        }
        let effects: Vec<Effect> = std::iter::from_fn(|| self.scheduler.poll()).collect();
        for effect in effects {
            match effect {
                Effect::Assign { worker, task } => {
                    let at = worker.0 as usize;
                    let told = Event::Assigned(at, self.workers[at].life, task.id, task.attempt);
                    self.clock.after(self.terms.latency, told);
                }
                Effect::Revoke { worker, task } => {
                    let at = worker.0 as usize;
                    self.clock.after(
                        self.terms.latency,
                        Event::Revoked(at, self.workers[at].life, task),
                    );
                }
                Effect::Finished { question, .. } => {
                    self.scheduler.settle(question);
                    while self.scheduler.poll().is_some() {}
                }
                _ => {}
            }
        }
        self.run.scheduler += begun.elapsed();
    }
}
