//! One simulated position: the real scheduler and real searches under a virtual clock.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use kagetsu_game::{Answer, Effort, Position, Question, Score};
use kagetsu_schedule::{Effect, Options, Report, Scheduler, Split, Task, TaskId, WorkerId};
use kagetsu_search::{Control, Engine, EngineOptions, Note, shallow};

use super::clock::EventQueue;
use super::machine::{Machine, Word};

/// The properties of a simulated cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositionTerms {
    pub(crate) engine: EngineOptions,
    /// Positions a second of a worker.
    pub(crate) speed: u64,
    /// Time of a message, one way.
    pub(crate) latency: Duration,
    pub(crate) split: Split,
}

impl PositionTerms {
    fn time(&self, nodes: u64) -> Duration {
        Duration::from_nanos((u128::from(nodes) * 1_000_000_000 / u128::from(self.speed)) as u64)
    }
}

/// The result of one search.
#[derive(Clone, Debug)]
pub(crate) struct PositionRun {
    pub(crate) time: Duration,
    pub(crate) nodes: u64,
    pub(crate) tasks: u64,
    /// Messages among the members.
    pub(crate) notes: u64,
    /// Time that all workers searched, together.
    pub(crate) busy: Duration,
    pub(crate) best: Option<(String, Score)>,
}

/// One engine alone.
pub(crate) fn alone(position: &Position, depth: u8, terms: PositionTerms) -> Result<PositionRun> {
    let control = Control::new();
    let question = Question::new(position.clone(), Effort::depth(depth));
    let answer = Engine::new(terms.engine)?.answer(&question, &control, &mut |_| {})?;
    let (time, nodes) = (terms.time(control.nodes()), control.nodes());
    Ok(PositionRun {
        time,
        nodes,
        tasks: 1,
        notes: 0,
        busy: time,
        best: best(position, &answer),
    })
}

fn best(position: &Position, answer: &Answer) -> Option<(String, Score)> {
    answer
        .best()
        .map(|(m, verdict)| (position.write_move(m), verdict.score))
}

enum PositionEvent {
    Ordered(usize, Order),
    Step(usize),
    Reported(usize, TaskId, u32, Answer),
    Noted(usize, Vec<Note>),
    Tick,
}

enum Order {
    Assign(Task),
    Revoke(TaskId),
}

/// One worker: its engine, its running search, and its queued tasks.
struct Searcher {
    machine: Machine,
    running: Option<RunningSearch>,
    queue: Vec<Task>,
    busy: Duration,
    nodes: u64,
}

struct RunningSearch {
    task: Task,
    control: Control,
    is_revoked: bool,
}

struct PositionCluster {
    terms: PositionTerms,
    clock: EventQueue<PositionEvent>,
    scheduler: Scheduler,
    workers: Vec<Searcher>,
    tasks: u64,
    notes: u64,
    end: Option<(Duration, Answer)>,
}

/// Simulates several workers that share one position.
pub(crate) fn together(
    position: &Position,
    depth: u8,
    workers: usize,
    terms: PositionTerms,
) -> Result<PositionRun> {
    let options = Options {
        // No worker dies in this simulation.
        lease: Duration::MAX,
        stall_timeout: Duration::MAX,
        ..Options::default()
    };
    let worker = |_| {
        let machine = Machine::new(terms.engine)?;
        Ok(Searcher {
            machine,
            running: None,
            queue: Vec::new(),
            busy: Duration::ZERO,
            nodes: 0,
        })
    };
    let mut cluster = PositionCluster {
        terms,
        clock: EventQueue::new(),
        scheduler: Scheduler::new(options),
        workers: (0..workers).map(worker).collect::<Result<_>>()?,
        tasks: 0,
        notes: 0,
        end: None,
    };
    (0..workers).for_each(|worker| {
        cluster
            .scheduler
            .join(Duration::ZERO, WorkerId(worker as u64), 1, &[])
    });
    let question = Question::new(position.clone(), Effort::depth(depth));
    cluster
        .scheduler
        .submit(Duration::ZERO, question, shallow(position)?, terms.split, 0);
    cluster.follow()?;
    while cluster.end.is_none() {
        let event = cluster
            .clock
            .next()
            .context("the simulation has no event left")?;
        cluster.happen(event)?;
        cluster.follow()?;
    }
    let (time, answer) = cluster.end.take().context("it has ended")?;
    Ok(PositionRun {
        time,
        nodes: cluster.workers.iter().map(|worker| worker.nodes).sum(),
        tasks: cluster.tasks,
        notes: cluster.notes,
        busy: cluster.workers.iter().map(|worker| worker.busy).sum(),
        best: best(position, &answer),
    })
}

impl PositionCluster {
    fn happen(&mut self, event: PositionEvent) -> Result<()> {
        let now = self.clock.now;
        match event {
            PositionEvent::Ordered(worker, order) => self.obey(worker, order),
            PositionEvent::Step(worker) => {
                let word = self.workers[worker].machine.step()?;
                self.hear(worker, word)
            }
            PositionEvent::Reported(worker, task, attempt, answer) => {
                let worker = WorkerId(worker as u64);
                self.scheduler
                    .report(now, worker, task, attempt, Report::Done(answer));
                Ok(())
            }
            PositionEvent::Noted(worker, notes) => {
                if let Some(running) = &self.workers[worker].running {
                    running.control.receive(&notes);
                }
                Ok(())
            }
            PositionEvent::Tick => {
                self.scheduler.tick(now);
                Ok(())
            }
        }
    }

    fn obey(&mut self, worker: usize, order: Order) -> Result<()> {
        let it = &mut self.workers[worker];
        match order {
            Order::Assign(task) => it.queue.push(task),
            Order::Revoke(task) => {
                it.queue.retain(|queued| queued.id != task);
                if let Some(running) = it
                    .running
                    .as_mut()
                    .filter(|running| running.task.id == task)
                {
                    running.is_revoked = true;
                    running.control.stop();
                }
            }
        }
        self.begin(worker)
    }

    fn begin(&mut self, worker: usize) -> Result<()> {
        let it = &mut self.workers[worker];
        if it.running.is_some() || it.queue.is_empty() {
            return Ok(());
        }
        let task = it.queue.remove(0);
        self.tasks += 1;
        let (control, word) = it.machine.begin(task.part.clone(), task.role)?;
        it.running = Some(RunningSearch {
            task,
            control,
            is_revoked: false,
        });
        self.hear(worker, word)
    }

    fn hear(&mut self, worker: usize, word: Word) -> Result<()> {
        let it = &mut self.workers[worker];
        match word {
            Word::Visited(nodes) => {
                it.nodes += nodes;
                it.busy += self.terms.time(nodes);
                let delay = self.terms.time(nodes) + 2 * self.terms.latency;
                self.clock
                    .after(self.terms.time(nodes), PositionEvent::Step(worker));
                let notes = it
                    .running
                    .as_ref()
                    .map(|running| running.control.take_outgoing())
                    .unwrap_or_default();
                self.notes += notes.len() as u64;
                if !notes.is_empty() {
                    // The coordinator forwards the notes.
                    let others = (0..self.workers.len()).filter(|other| *other != worker);
                    others.for_each(|other| {
                        self.clock
                            .after(delay, PositionEvent::Noted(other, notes.clone()))
                    });
                }
                Ok(())
            }
            Word::Done(answer) => {
                let RunningSearch {
                    task, is_revoked, ..
                } = it.running.take().context("it was at work")?;
                if !is_revoked {
                    let report = PositionEvent::Reported(worker, task.id, task.attempt, answer?);
                    self.clock.after(self.terms.latency, report);
                }
                self.begin(worker)
            }
        }
    }

    fn follow(&mut self) -> Result<()> {
        while let Some(effect) = self.scheduler.poll() {
            let (worker, order) = match effect {
                Effect::Assign { worker, task } => (worker, Order::Assign(task)),
                Effect::Revoke { worker, task } => (worker, Order::Revoke(task)),
                Effect::Finished { answer, .. } => {
                    self.end = Some((self.clock.now, answer));
                    continue;
                }
                Effect::Failed { reason, .. } => bail!(reason),
                Effect::Acknowledge { .. } | Effect::Progress { .. } => continue,
            };
            self.clock.after(
                self.terms.latency,
                PositionEvent::Ordered(worker.0 as usize, order),
            );
        }
        if let Some(deadline) = self
            .scheduler
            .deadline()
            .filter(|deadline| *deadline < Duration::MAX)
        {
            self.clock.at(deadline, PositionEvent::Tick);
        }
        Ok(())
    }
}
