//! A simulated book: the real scheduler, workers that do not search, and a virtual clock.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Effect, Options, QuestionId, Report, Scheduler, Split, TaskId, WorkerId};
use kagetsu_terminal::arguments::effort::parse_time;
use serde::Serialize;

/// Questions of one commit at most, and full commits that the writer of a book may be ahead of
/// the journal.
const COMMIT_BATCH: usize = 1024;
const MAX_BATCHES_AHEAD: usize = 4;

/// The properties of a simulated cluster.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BookTerms {
    /// Numbers of simulated workers [default: 1,10,100,1000,10000]
    #[arg(long, value_delimiter = ',', value_name = "N", requires = "simulate",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sizes: Vec<u32>,
    /// Time of a simulated task
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    task: Duration,
    /// Time of a simulated message, one way
    #[arg(long, default_value = "1ms", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    latency: Duration,
    /// Time of the simulated coordinator for a report and its effects
    #[arg(long, default_value = "50us", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    service: Duration,
    /// Time of one simulated commit; a report is acknowledged after it [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    commit: Option<Duration>,
}

/// One size of cluster.
#[derive(Serialize)]
pub(super) struct Simulation {
    rows: Vec<SimulatedRow>,
}

#[derive(Serialize)]
struct SimulatedRow {
    workers: u32,
    /// Over a worker that never waits.
    speed_up: f64,
    /// Share of the workers' time without a task.
    idle: f64,
    positions: u64,
}

impl BookTerms {
    pub(super) fn method(&self, length: Duration) -> String {
        let time = humantime::format_duration;
        format!(
            "A book, each worker with a position of its own and more waiting: the real scheduler, \
             tasks of {}, messages take {} one way, the coordinator serves a report in {}, one at \
             a time, and commits up to {COMMIT_BATCH} of them together in {}; {} of virtual time.",
            time(self.task),
            time(self.latency),
            time(self.service),
            time(self.commit.unwrap_or_default()),
            time(length),
        )
    }
}

pub(super) fn run(terms: &BookTerms, length: Duration) -> Result<Simulation> {
    let sizes = match &terms.sizes[..] {
        [] => vec![1, 10, 100, 1_000, 10_000],
        given => given.to_vec(),
    };
    let mut rows = Vec::new();
    for workers in sizes {
        let end = terms.task + length;
        let cluster = SimulatedCluster::run(workers, terms, end)?;
        let busy = |worker: &SimulatedWorker| {
            // A task that runs at the end counts.
            let running = worker
                .running
                .map_or(Duration::ZERO, |(_, _, begun)| end - begun);
            (worker.busy + running).as_secs_f64()
        };
        let busy: f64 = cluster.workers.iter().map(busy).sum();
        let there = cluster.workers.iter().map(|worker| end - worker.since);
        rows.push(SimulatedRow {
            workers,
            speed_up: busy / end.as_secs_f64(),
            idle: 1.0 - busy / there.sum::<Duration>().as_secs_f64(),
            positions: cluster.positions,
        });
    }
    Ok(Simulation { rows })
}

enum BookEvent {
    Born(usize),
    Assigned(usize, TaskId, u32),
    Ended(usize),
    Reported(usize, TaskId, u32),
    Committed(usize),
}

#[derive(Clone, Default)]
struct SimulatedWorker {
    since: Duration,
    busy: Duration,
    running: Option<(TaskId, u32, Duration)>,
    queue: VecDeque<(TaskId, u32)>,
}

struct SimulatedCluster<'a> {
    terms: &'a BookTerms,
    now: Duration,
    /// The coming events, by time and then by the order in which it was decided.
    events: BTreeMap<(Duration, u64), BookEvent>,
    decided: u64,
    scheduler: Scheduler,
    workers: Vec<SimulatedWorker>,
    question: Question,
    /// The time at which the coordinator has handled all reports so far.
    served: Duration,
    /// Questions whose answers wait for a commit, those that are being committed first.
    uncommitted: VecDeque<QuestionId>,
    is_committing: bool,
    positions: u64,
}

impl<'a> SimulatedCluster<'a> {
    /// Runs a cluster to the end. Workers come one after another, within the time of a task.
    fn run(workers: u32, terms: &'a BookTerms, end: Duration) -> Result<Self> {
        let options = Options {
            lease: Duration::MAX,
            stall_timeout: Duration::MAX,
            ..Options::default()
        };
        let start = Position::start(Variant::FREESTYLE_15);
        let mut cluster = Self {
            terms,
            now: Duration::ZERO,
            events: BTreeMap::new(),
            decided: 0,
            scheduler: Scheduler::new(options),
            workers: vec![SimulatedWorker::default(); workers as usize],
            question: Question::new(start, Effort::depth(10)),
            served: Duration::ZERO,
            uncommitted: VecDeque::new(),
            is_committing: false,
            positions: 0,
        };
        for worker in 0..workers {
            let at = terms.task * worker / workers;
            cluster.happens_at(at, BookEvent::Born(worker as usize));
        }
        loop {
            let next = cluster.events.pop_first();
            let ((at, _), event) = next.context("the simulation has no next event")?;
            if at > end {
                return Ok(cluster);
            }
            cluster.now = at;
            cluster.happen(event);
        }
    }

    fn happens_at(&mut self, at: Duration, event: BookEvent) {
        self.decided += 1;
        self.events.insert((at, self.decided), event);
    }

    fn happen(&mut self, event: BookEvent) {
        let now = self.now;
        match event {
            BookEvent::Born(at) => {
                self.workers[at].since = now;
                self.decide(|scheduler| scheduler.join(now, WorkerId(at as u64), 1, &[]));
            }
            BookEvent::Assigned(at, task, attempt) => {
                self.workers[at].queue.push_back((task, attempt));
                self.begin(at);
            }
            BookEvent::Ended(at) => {
                if let Some((task, attempt, begun)) = self.workers[at].running.take() {
                    self.workers[at].busy += now - begun;
                    // The coordinator handles one report at a time.
                    self.served = (now + self.terms.latency).max(self.served) + self.terms.service;
                    self.happens_at(self.served, BookEvent::Reported(at, task, attempt));
                    self.begin(at);
                }
            }
            BookEvent::Reported(at, task, attempt) => {
                let report = Report::Done(Answer::new());
                let worker = WorkerId(at as u64);
                self.decide(|scheduler| scheduler.report(now, worker, task, attempt, report));
            }
            BookEvent::Committed(positions) => {
                self.positions += positions as u64;
                self.is_committing = false;
                let settled: Vec<QuestionId> = self.uncommitted.drain(..positions).collect();
                self.commit();
                self.decide(|scheduler| settled.iter().for_each(|id| scheduler.settle(*id)));
            }
        }
    }

    /// Lets an idle worker begin its next task.
    fn begin(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if worker.running.is_none()
            && let Some((task, attempt)) = worker.queue.pop_front()
        {
            worker.running = Some((task, attempt, self.now));
            self.happens_at(self.now + self.terms.task, BookEvent::Ended(at));
        }
    }

    /// Begins to commit what waits, unless a commit runs.
    fn commit(&mut self) {
        if !self.is_committing && !self.uncommitted.is_empty() {
            self.is_committing = true;
            let positions = self.uncommitted.len().min(COMMIT_BATCH);
            let end = self.now + self.terms.commit.unwrap_or_default();
            self.happens_at(end, BookEvent::Committed(positions));
        }
    }

    /// Lets the scheduler decide, and gives it as many positions as it can hand out, as the
    /// coordinator does.
    fn decide(&mut self, decision: impl FnOnce(&mut Scheduler)) {
        decision(&mut self.scheduler);
        // A writer that is too far ahead of its commits hands out nothing.
        let is_behind = self.uncommitted.len() > MAX_BATCHES_AHEAD * COMMIT_BATCH;
        let spare = if is_behind {
            0
        } else {
            self.scheduler.spare_capacity()
        };
        for _ in 0..spare {
            let (question, known) = (self.question.clone(), Answer::new());
            self.scheduler
                .submit(self.now, question, known, Split::Never, 1);
        }
        while let Some(effect) = self.scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => {
                    let event = BookEvent::Assigned(worker.0 as usize, task.id, task.attempt);
                    self.happens_at(self.now + self.terms.latency, event);
                }
                Effect::Finished { question, .. } => {
                    self.uncommitted.push_back(question);
                    self.commit();
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_is_hidden_by_tasks_that_wait() {
        let ms = Duration::from_millis;
        let terms = BookTerms {
            sizes: vec![1, 100],
            task: ms(100),
            latency: ms(20),
            service: Duration::from_micros(50),
            commit: Some(ms(5)),
        };
        let simulated = run(&terms, Duration::from_secs(5)).expect("events");
        let [one, hundred] = &simulated.rows[..] else {
            panic!("two sizes")
        };
        assert!(one.idle < 0.02 && hundred.idle < 0.02, "{}", hundred.idle);
        assert!(
            (95.0..=100.0).contains(&hundred.speed_up),
            "{}",
            hundred.speed_up
        );
        assert!(hundred.positions > 95 * one.positions);
    }
}
