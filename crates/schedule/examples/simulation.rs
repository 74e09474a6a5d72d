//! A simulated book: the real scheduler, workers that do not search, and a virtual clock.
//!
//! `cargo run --release -p kagetsu-schedule --example simulation -- 10000 100 10000` simulates
//! tasks of 10,000 ms, reports that take the coordinator 100 us, and commits of 10,000 us. Workers
//! hold a position each and more wait; a message takes 1 ms one way.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Effect, Options, QuestionId, Report, Scheduler, Split, TaskId, WorkerId};

/// Questions of one commit at most, and full commits that the writer of a book may be ahead of
/// the journal.
const COMMIT_BATCH: usize = 1024;
const MAX_BATCHES_AHEAD: usize = 4;
/// Time of a message, one way.
const LATENCY: Duration = Duration::from_millis(1);
/// Length of the observation after the first task.
const LENGTH: Duration = Duration::from_secs(60);

/// The times of a simulated cluster.
struct Terms {
    task: Duration,
    /// The coordinator's time for a report and its effects.
    service: Duration,
    commit: Duration,
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().ok());
    let mut number = |usual| numbers.next().flatten().unwrap_or(usual);
    let terms = Terms {
        task: Duration::from_millis(number(10_000)),
        service: Duration::from_micros(number(100)),
        commit: Duration::from_micros(number(10_000)),
    };
    println!("workers speed-up idle positions");
    for workers in [1, 10, 100, 1_000, 10_000, 100_000] {
        let end = terms.task + LENGTH;
        let cluster = SimulatedCluster::run(workers, &terms, end);
        let busy = |worker: &SimulatedWorker| {
            // A task that runs at the end counts.
            let running = worker
                .running
                .map_or(Duration::ZERO, |(_, _, begun)| end - begun);
            worker.busy + running
        };
        let busy: f64 = cluster
            .workers
            .iter()
            .map(busy)
            .sum::<Duration>()
            .as_secs_f64();
        let there = cluster.workers.iter().map(|worker| end - worker.since);
        let speed_up = busy / end.as_secs_f64();
        let idle = 1.0 - busy / there.sum::<Duration>().as_secs_f64();
        println!("{workers} {speed_up:.1} {idle:.4} {}", cluster.positions);
    }
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
    terms: &'a Terms,
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
    fn run(workers: u32, terms: &'a Terms, end: Duration) -> Self {
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
            let Some(((at, _), event)) =
                cluster.events.pop_first().filter(|((at, _), _)| *at <= end)
            else {
                return cluster;
            };
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
                    self.served = (now + LATENCY).max(self.served) + self.terms.service;
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
            let end = self.now + self.terms.commit;
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
                .submit(self.now, question, known, Split::Never, 1, ());
        }
        while let Some(effect) = self.scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => {
                    let event = BookEvent::Assigned(worker.0 as usize, task.id, task.attempt);
                    self.happens_at(self.now + LATENCY, event);
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
