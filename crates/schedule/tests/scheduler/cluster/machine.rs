use std::collections::BTreeMap;
use std::time::Duration;

use kagetsu_schedule::{Report, Task, TaskId, WorkerId};
use rand::RngExt;

use super::network::{Message, Order};
use super::{Cluster, Event as ClusterEvent};
use crate::engine;

/// A model worker: runs tasks for the time that their positions take, and keeps reports until they
/// are acknowledged.
#[derive(Debug)]
pub(crate) struct Machine {
    slots: u32,
    speed: u64,
    /// Number of the process; its tasks end with it.
    life: u64,
    is_up: bool,
    is_draining: bool,
    /// Start of the slow phase.
    crawls: Option<Duration>,
    pub(crate) connection: Option<u64>,
    /// End of the standstill.
    pub(crate) thaw: Duration,
    /// Time at which the coordinator knows its connection; earlier messages are lost.
    pub(crate) joined: Duration,
    /// Arrival of the last message each way; later ones do not overtake it.
    pub(crate) said_until: Duration,
    pub(crate) told_until: Duration,
    queue: Vec<Task>,
    running: BTreeMap<TaskId, Run>,
    spool: BTreeMap<TaskId, (u32, Report)>,
}

#[derive(Debug)]
struct Run {
    task: Task,
    began: Duration,
    /// The end of the task; `None`: it never ends.
    report: Option<Report>,
    /// Start of the slow phase, and the positions visited by then.
    crawls: Option<(Duration, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A new process starts.
    Start,
    /// An event for the process with number `life`.
    To { life: u64, what: What },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Connect,
    Beat,
    End(TaskId),
    /// It ends, and another one starts after this time.
    Stop {
        down: Duration,
    },
}

const BEAT: Duration = Duration::from_secs(2);
/// Positions that a search visits before it hangs.
const HANGS_AT: u64 = 500;

impl Machine {
    pub(crate) fn new(slots: u32, speed: u64) -> Self {
        let (queue, running, spool) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let [thaw, joined, said_until, told_until] = [Duration::ZERO; 4];
        let (is_up, is_draining, crawls, connection) = (false, false, None, None);
        Self {
            slots,
            speed,
            life: 0,
            is_up,
            is_draining,
            crawls,
            connection,
            thaw,
            joined,
            said_until,
            told_until,
            queue,
            running,
            spool,
        }
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.queue.is_empty() && self.running.is_empty() && self.spool.is_empty()
    }

    pub(crate) fn die(&mut self) {
        self.is_up = false;
        self.crawls = None;
        self.thaw = Duration::ZERO;
        self.queue.clear();
        self.running.clear();
        self.spool.clear();
    }

    /// From now on its tasks never end.
    pub(crate) fn crawl(&mut self, now: Duration) {
        self.crawls = Some(now);
        let visited: Vec<u64> = self
            .running
            .values()
            .map(|run| self.visited(run, now))
            .collect();
        for (run, visited) in self.running.values_mut().zip(visited) {
            (run.report, run.crawls) = (None, Some((now, visited)));
        }
    }

    pub(crate) fn freeze(&mut self, until: Duration) {
        self.thaw = self.thaw.max(until);
    }

    /// Returns an event for the current process.
    pub(crate) const fn now(&self, what: What) -> Event {
        Event::To {
            life: self.life,
            what,
        }
    }

    fn holding(&self) -> Vec<(TaskId, u32)> {
        let running = self.running.values().map(|run| &run.task);
        let unfinished = running
            .chain(&self.queue)
            .map(|task| (task.id, task.attempt));
        unfinished
            .chain(
                self.spool
                    .iter()
                    .map(|(task, (attempt, _))| (*task, *attempt)),
            )
            .collect()
    }

    fn next_task(&mut self) -> Option<Task> {
        if self.running.len() >= self.slots as usize {
            return None;
        }
        let first = (0..self.queue.len()).min_by_key(|&i| self.queue[i].priority)?;
        Some(self.queue.remove(first))
    }

    fn visited(&self, run: &Run, now: Duration) -> u64 {
        if let Some((since, nodes)) = run.crawls {
            return nodes + (now - since).as_secs();
        }
        let nodes = (now - run.began).as_micros() as u64 * self.speed / 1_000_000;
        if run.report.is_some() {
            nodes
        } else {
            nodes.min(HANGS_AT)
        }
    }
}

impl Cluster {
    pub(super) fn machine(&mut self, worker: WorkerId) -> &mut Machine {
        self.machines
            .get_mut(&worker)
            .expect("only machines are named")
    }

    pub(super) fn step(&mut self, worker: WorkerId, event: Event) {
        let now = self.now;
        let machine = self.machine(worker);
        let (life, what) = match event {
            Event::Start if machine.is_up => return,
            Event::Start => {
                (machine.is_up, machine.is_draining) = (true, false);
                machine.life += 1;
                (machine.life, What::Connect)
            }
            Event::To { life, what } => (life, what),
        };
        if life != machine.life || !machine.is_up {
            return;
        }
        if now < machine.thaw {
            let thaw = machine.thaw;
            return self.schedule(
                thaw,
                ClusterEvent::Machine(worker, Event::To { life, what }),
            );
        }
        match what {
            What::Connect => self.connect(worker),
            What::Beat => self.beat(worker),
            What::End(task) => self.end_task(worker, task),
            What::Stop { down } => self.stop(worker, down),
        }
    }

    fn later(&mut self, worker: WorkerId, wait: Duration, what: What) {
        let event = self.machine(worker).now(what);
        self.schedule(self.now + wait, ClusterEvent::Machine(worker, event));
    }

    fn connect(&mut self, worker: WorkerId) {
        self.next += 1;
        let connection = self.next;
        let machine = self.machine(worker);
        if machine.connection.is_some() || machine.is_draining {
            return;
        }
        machine.connection = Some(connection);
        let (slots, holding) = (machine.slots, machine.holding());
        self.say(worker, Message::Join(slots, holding));
        for (task, (attempt, report)) in self.machine(worker).spool.clone() {
            self.say(worker, Message::Report(task, attempt, report));
        }
        self.later(worker, BEAT, What::Beat);
    }

    fn beat(&mut self, worker: WorkerId) {
        let now = self.now;
        let machine = self.machine(worker);
        if machine.connection.is_none() {
            return;
        }
        let progress = machine
            .running
            .values()
            .map(|run| (run.task.id, machine.visited(run, now)))
            .collect();
        self.say(worker, Message::Beat(progress));
        self.later(worker, BEAT, What::Beat);
    }

    pub(super) fn obey(&mut self, worker: WorkerId, order: Order) {
        match order {
            Order::Assign(task) => self.receive(worker, task),
            Order::Revoke(task) => {
                let now = self.now;
                let machine = self.machine(worker);
                machine.queue.retain(|queued| queued.id != task);
                if let Some(run) = machine.running.remove(&task) {
                    self.nodes += self.machines[&worker].visited(&run, now);
                }
            }
            Order::Acknowledge(task, attempt) => {
                let spool = &mut self.machine(worker).spool;
                if spool
                    .get(&task)
                    .is_some_and(|(reported, _)| *reported == attempt)
                {
                    spool.remove(&task);
                }
            }
        }
        self.begin(worker);
    }

    fn receive(&mut self, worker: WorkerId, task: Task) {
        let machine = self.machine(worker);
        if let Some((attempt, report @ Report::Done(_))) = machine.spool.get(&task.id).cloned() {
            self.say(worker, Message::Report(task.id, attempt, report));
        } else if machine.is_draining {
            self.report(worker, task.id, task.attempt, Report::HandedBack);
        } else if let Some(run) = machine.running.get_mut(&task.id) {
            run.task.attempt = task.attempt;
        } else if let Some(queued) = machine.queue.iter_mut().find(|queued| queued.id == task.id) {
            queued.attempt = task.attempt;
        } else {
            machine.queue.push(task);
        }
    }

    fn begin(&mut self, worker: WorkerId) {
        let now = self.now;
        while let Some(task) = self.machine(worker).next_task() {
            let wait = engine::cost(&task.part, self.machine(worker).speed);
            let crawls = self.machine(worker).crawls.map(|_| (now, 0));
            let report = if crawls.is_some() {
                None
            } else {
                self.fate(&task)
            };
            let id = task.id;
            if report.is_some() {
                self.later(worker, wait, What::End(id));
            }
            self.machine(worker).running.insert(
                id,
                Run {
                    task,
                    began: now,
                    report,
                    crawls,
                },
            );
        }
    }

    /// Decides how a task will end, if it ends.
    fn fate(&mut self, task: &Task) -> Option<Report> {
        let luck = self.dice.random_range(0..10);
        let planned = &mut self.plan.questions[self.submitted[&task.question]];
        if planned.is_poison {
            return Some(Report::Failed("poison".into()));
        }
        if luck < 2 && planned.bad_luck > 0 {
            planned.bad_luck -= 1;
            return (luck == 0).then(|| Report::Failed("bad luck".into()));
        }
        Some(Report::Done(engine::answer(&task.part)))
    }

    fn end_task(&mut self, worker: WorkerId, task: TaskId) {
        let now = self.now;
        let machine = self.machine(worker);
        let due = |run: &Run| run.began + engine::cost(&run.task.part, machine.speed) <= now;
        if !machine.running.get(&task).is_some_and(due) {
            return; // the end of an earlier run, which was revoked
        }
        let run = self
            .machine(worker)
            .running
            .remove(&task)
            .expect("just seen");
        self.nodes += self.machines[&worker].visited(&run, now);
        if let Some(report) = run.report {
            self.report(worker, task, run.task.attempt, report);
        }
        self.begin(worker);
    }

    fn report(&mut self, worker: WorkerId, task: TaskId, attempt: u32, report: Report) {
        self.machine(worker)
            .spool
            .insert(task, (attempt, report.clone()));
        self.say(worker, Message::Report(task, attempt, report));
    }

    pub(super) fn drain(&mut self, worker: WorkerId) {
        let machine = self.machine(worker);
        machine.is_draining = true;
        let running = std::mem::take(&mut machine.running)
            .into_values()
            .map(|run| run.task);
        let tasks: Vec<_> = running.chain(std::mem::take(&mut machine.queue)).collect();
        for task in tasks {
            self.report(worker, task.id, task.attempt, Report::HandedBack);
        }
    }

    fn stop(&mut self, worker: WorkerId, down: Duration) {
        self.say(worker, Message::Goodbye);
        let machine = self.machine(worker);
        machine.connection = None;
        machine.die();
        self.schedule(self.now + down, ClusterEvent::Machine(worker, Event::Start));
    }
}
