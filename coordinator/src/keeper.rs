//! The keeper: the thread that has the book. What it has done the [herald](crate::herald) makes durable, and says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Instant;

use anyhow::{Context, Result};
use kagetsu_book::{Aside, Book, BookError, Entry, Job, JobChange, JobId, JobSpec, JobState, Work};
use kagetsu_game::{Answer, Position, Question, Variant};
use kagetsu_schedule::{QuestionId, TaskId, WorkerId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::herald::{Herald, News, Square};
use crate::hub::Hub;
use crate::progress::Rates;
use crate::prover::Kept;
use crate::quarantine::{self, Confined};
use crate::shallow::shallow;

/// Commands done between two writes to the disk.
const BATCH: usize = 256;

/// Questions of clients that wait for the keeper at a time. Who comes later waits before its desk.
const MOST_ASKED: usize = 64;

/// Positions that a job goes on without of which clients hear.
const MOST_ASIDES: usize = 20;

/// Who asked. Has one of the places at the desk until it is answered, whether anybody still listens or not.
struct Reply<T> {
    to: oneshot::Sender<Result<T, BookError>>,
    _place: OwnedSemaphorePermit,
}

impl<T> Reply<T> {
    fn is_awaited(&self) -> bool {
        !self.to.is_closed()
    }

    fn give(self, answer: Result<T, BookError>) {
        // Who asked may have gone.
        let _ = self.to.send(answer);
    }
}

/// What the keeper can be asked to do.
enum Command {
    Finish(QuestionId, Box<Work>, Answer),
    Keep(Box<Kept>, Answer),
    SetAside(Box<Work>, String),
    Release(Box<Work>),
    Distrust(Vec<(JobId, Position)>),
    Reclaim(WorkerId, Vec<(TaskId, Option<Question>)>),
    Confine(Vec<Confined>),
    Refill,
    Start(Box<JobSpec>, Reply<Job>),
    Change(String, JobChange, Reply<Job>),
    Lookup(Vec<Position>, Reply<Vec<Option<Entry>>>),
    Page(Option<kagetsu_book::Place>, usize, Reply<Vec<Entry>>),
    Stop,
}

/// Where the others ask the keeper. Answers to builds wait here until they are on disk; there are never more of them than
/// tasks were handed out. Of clients' questions there are never more than places.
#[derive(Clone)]
pub(crate) struct KeeperDesk {
    commands: Sender<Command>,
    places: Arc<Semaphore>,
    is_refilling: Arc<AtomicBool>,
    jobs: watch::Receiver<Arc<Vec<JobView>>>,
    extent: Arc<Extent>,
}

/// How far the book has come, as it is on disk.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    entries: AtomicU64,
    positions: AtomicU64,
}

impl Extent {
    /// Entries of the journal: another number after every change of the book.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Acquire)
    }

    /// Positions with a record.
    pub(crate) fn positions(&self) -> u64 {
        self.positions.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, entries: u64, positions: u64) {
        self.positions.store(positions, Ordering::Release);
        self.entries.store(entries, Ordering::Release);
    }
}

/// A job as it is on disk, and how fast it grows.
#[derive(Clone, Debug)]
pub(crate) struct JobView {
    pub(crate) job: Job,
    /// The first positions that it goes on without.
    pub(crate) asides: Arc<[Aside]>,
    /// Positions a second, of late.
    pub(crate) rate: f64,
}

/// The keeper is gone: the book could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the book is closed")]
pub(crate) struct Closed;

impl KeeperDesk {
    /// The desk, and the keeper's own end of it.
    pub(crate) fn new() -> (Self, KeeperEnd) {
        let (commands, orders) = channel();
        let (shown, jobs) = watch::channel(Arc::default());
        let is_refilling = Arc::new(AtomicBool::new(false));
        let places = Arc::new(Semaphore::new(MOST_ASKED));
        let extent = Arc::default();
        let desk =
            Self { commands, places, is_refilling: Arc::clone(&is_refilling), jobs, extent: Arc::clone(&extent) };
        let stop = desk.clone();
        (desk, KeeperEnd { orders, is_refilling, shown, extent, stop })
    }

    fn send(&self, command: Command) {
        // If the keeper is gone the coordinator is ending, and says why elsewhere.
        let _ = self.commands.send(command);
    }

    pub(crate) fn finish(&self, id: QuestionId, work: Work, answer: Answer) {
        self.send(Command::Finish(id, Box::new(work), answer));
    }

    /// An answer to a person goes into the book, as this; who waits hears of it when it is on disk.
    pub(crate) fn keep(&self, kept: Box<Kept>, learned: Answer) {
        self.send(Command::Keep(kept, learned));
    }

    pub(crate) fn set_aside(&self, work: Work, reason: String) {
        self.send(Command::SetAside(Box::new(work), reason));
    }

    /// A position was not done: it waits again.
    pub(crate) fn release(&self, work: Work) {
        self.send(Command::Release(Box::new(work)));
    }

    /// What was learned of these is not to be believed.
    pub(crate) fn distrust(&self, said: Vec<(JobId, Position)>) {
        self.send(Command::Distrust(said));
    }

    /// These are in quarantine, and nobody else.
    pub(crate) fn confine(&self, all: Vec<Confined>) {
        self.send(Command::Confine(all));
    }

    /// A worker has tasks of an earlier life of the coordinator at hand.
    pub(crate) fn reclaim(&self, worker: WorkerId, held: Vec<(TaskId, Option<Question>)>) {
        self.send(Command::Reclaim(worker, held));
    }

    /// There may be workers without work.
    pub(crate) fn refill(&self) {
        if !self.is_refilling.swap(true, Ordering::AcqRel) {
            self.send(Command::Refill);
        }
    }

    pub(crate) fn stop(&self) {
        self.send(Command::Stop);
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<Result<T, BookError>, Closed> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Closed)?;
        let (to, answer) = oneshot::channel();
        self.send(command(Reply { to, _place: place }));
        answer.await.map_err(|_| Closed)
    }

    pub(crate) async fn start(&self, spec: JobSpec) -> Result<Result<Job, BookError>, Closed> {
        self.ask(|reply| Command::Start(Box::new(spec), reply)).await
    }

    pub(crate) async fn change(&self, name: String, change: JobChange) -> Result<Result<Job, BookError>, Closed> {
        self.ask(|reply| Command::Change(name, change, reply)).await
    }

    pub(crate) async fn lookup(&self, all: Vec<Position>) -> Result<Result<Vec<Option<Entry>>, BookError>, Closed> {
        self.ask(|reply| Command::Lookup(all, reply)).await
    }

    pub(crate) async fn page(
        &self,
        after: Option<kagetsu_book::Place>,
        most: usize,
    ) -> Result<Result<Vec<Entry>, BookError>, Closed> {
        self.ask(|reply| Command::Page(after, most, reply)).await
    }

    /// All jobs as they are on disk, now and whenever that changes.
    pub(crate) fn jobs(&self) -> watch::Receiver<Arc<Vec<JobView>>> {
        self.jobs.clone()
    }

    /// How far the book has come.
    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }
}

/// The keeper's end of the desk.
pub(crate) struct KeeperEnd {
    orders: Receiver<Command>,
    is_refilling: Arc<AtomicBool>,
    shown: watch::Sender<Arc<Vec<JobView>>>,
    extent: Arc<Extent>,
    /// For the herald, to say that the disk says no.
    stop: KeeperDesk,
}

/// Who has the book.
pub(crate) struct Keeper {
    book: Book,
    /// The book's.
    folder: PathBuf,
    orders: Receiver<Command>,
    is_refilling: Arc<AtomicBool>,
    herald: Herald,
    hub: Weak<Hub>,
    /// Jobs that are running, to ask for work without reading all: those of the greatest priority first.
    running: Vec<(JobId, Variant, i8)>,
    rates: BTreeMap<JobId, Rates>,
    /// What each job goes on without, and how much that is.
    asides: BTreeMap<JobId, (u64, Arc<[Aside]>)>,
}

impl Keeper {
    /// A keeper whose jobs can be seen before it runs.
    pub(crate) fn new(book: Book, folder: PathBuf, end: KeeperEnd, hub: &Arc<Hub>) -> Result<Self> {
        let KeeperEnd { orders, is_refilling, shown, extent, stop } = end;
        let hub = Arc::downgrade(hub);
        let square = Square { hub: Weak::clone(&hub), shown, extent };
        let herald = Herald::start(&book, square, move || stop.stop())?;
        let (running, rates, asides) = Default::default();
        let mut keeper = Self { book, folder, orders, is_refilling, herald, hub, running, rates, asides };
        let (to, shown) = std::sync::mpsc::channel();
        let shows: Box<dyn FnOnce() + Send> = Box::new(move || {
            // Who waits for it is below.
            let _ = to.send(());
        });
        let changed = Some(keeper.views()?);
        keeper.herald.tell(News { changed, replies: vec![shows], ..News::default() })?;
        // The herald that has gone says why when it is told something.
        if shown.recv().is_err() {
            keeper.herald.end()?;
        }
        Ok(keeper)
    }

    /// Keeps the book until it is told to stop. Everything acknowledged is on disk when it ends, whichever way.
    pub(crate) fn run(mut self) -> Result<()> {
        self.refill()?;
        while let Ok(command) = self.orders.recv() {
            let mut batch = vec![command];
            batch.extend(self.orders.try_iter().take(BATCH - 1));
            if !self.serve(batch)? {
                break;
            }
        }
        self.herald.end()?;
        self.book.close().context("cannot close the book")
    }

    /// Does some commands, and has it said when what was learned is durable. `false` after a stop.
    fn serve(&mut self, batch: Vec<Command>) -> Result<bool> {
        let before = self.book.sequence();
        let (mut goes_on, mut is_hungry) = (true, false);
        let News { mut settled, mut replies, .. } = News::default();
        for command in batch {
            match command {
                Command::Finish(id, work, answer) => {
                    self.finish(&work, &answer)?;
                    settled.push(id);
                    is_hungry = true;
                }
                Command::Keep(kept, learned) => {
                    let Kept { id, question, answer, nodes, watched } = *kept;
                    let refused = match self.book.learn(&question.position, &learned) {
                        Err(error @ (BookError::Illegal { .. } | BookError::Collision(_))) => Some(error.to_string()),
                        other => other.map(|_| None).context("cannot keep an answer")?,
                    };
                    settled.push(id);
                    replies.push(Box::new(move || watched.end(refused.map_or(Ok((answer, nodes)), Err))));
                    is_hungry = true;
                }
                Command::SetAside(work, reason) => {
                    self.book.set_aside(&work, &reason).context("cannot set a position aside")?;
                    is_hungry = true;
                }
                Command::Release(work) => {
                    self.book.release(&work);
                    is_hungry = true;
                }
                Command::Distrust(said) => {
                    for (job, position) in said {
                        self.book.distrust(Some(job), &position).context("cannot take an answer back")?;
                    }
                    is_hungry = true;
                }
                Command::Confine(all) => self.confine(&all),
                Command::Reclaim(worker, held) => self.reclaim(worker, held)?,
                Command::Refill => {
                    self.is_refilling.store(false, Ordering::Release);
                    is_hungry = true;
                }
                Command::Start(spec, reply) => {
                    let started = self.book.start_job(&spec).and_then(|id| self.book.job(id));
                    replies.push(Box::new(move || reply.give(started)));
                    is_hungry = true;
                }
                Command::Change(name, change, reply) => {
                    let changed = self.change(&name, change);
                    replies.push(Box::new(move || reply.give(changed)));
                    is_hungry = true;
                }
                Command::Lookup(positions, reply) if reply.is_awaited() => {
                    reply.give(positions.iter().map(|position| self.book.lookup(position)).collect());
                }
                Command::Page(after, most, reply) if reply.is_awaited() => reply.give(self.book.page(after, most)),
                Command::Lookup(..) | Command::Page(..) => {}
                Command::Stop => goes_on = false,
            }
        }
        let is_changed = self.book.sequence() > before;
        let changed = if is_changed { Some(self.views()?) } else { None };
        self.herald.tell(News { settled, changed, replies })?;
        if is_hungry && goes_on {
            self.refill()?;
        }
        Ok(goes_on)
    }

    /// Writes down who is in quarantine. Where that cannot be written the coordinator goes on: it knows as long as it lives.
    fn confine(&self, all: &[Confined]) {
        if let Err(error) = quarantine::write(&self.folder, all) {
            let folder = self.folder.display();
            tracing::error!(%folder, %error, "cannot write down who is in quarantine: make room, or it ends with the coordinator");
        }
    }

    /// What a worker has at hand from before is its own, if any running job still waits for it.
    fn reclaim(&mut self, worker: WorkerId, held: Vec<(TaskId, Option<Question>)>) -> Result<()> {
        let Some(hub) = self.hub.upgrade() else { return Ok(()) };
        for (task, question) in held {
            let mut work = None;
            for (job, ..) in &self.running {
                if let (None, Some(question)) = (&work, &question) {
                    work = self.book.claim(*job, question)?;
                }
            }
            match (work, question) {
                (Some(work), _) => hub.resume(worker, work),
                (None, Some(question)) => hub.share(worker, task, &question),
                (None, None) => hub.drop_task(worker, task),
            }
        }
        Ok(())
    }

    /// Learns an answer. One that the book refuses for what it says must not end the coordinator.
    fn finish(&mut self, work: &Work, answer: &Answer) -> Result<()> {
        let refused = match self.book.finish(work, answer) {
            Err(error @ (BookError::Illegal { .. } | BookError::Collision(_))) => error.to_string(),
            other => return other.map(drop).context("cannot keep an answer"),
        };
        if let Some(hub) = self.hub.upgrade() {
            hub.metrics().merge_conflicts.inc();
        }
        tracing::warn!(position = %work.question.position, reason = refused, "a position is set aside");
        self.book.set_aside(work, &refused).map(drop).context("cannot set a position aside")
    }

    fn change(&mut self, name: &str, change: JobChange) -> Result<Job, BookError> {
        let job = self.book.jobs()?.into_iter().find(|job| job.spec.name == name);
        let id = job.ok_or_else(|| BookError::NoJob(name.to_string()))?.id;
        self.book.change_job(id, change)?;
        let job = self.book.job(id)?;
        if job.state != JobState::Running {
            let hub = self.hub.upgrade();
            let works = hub.map_or_else(Vec::new, |hub| hub.withdraw(id));
            works.iter().for_each(|work| self.book.release(work));
        }
        Ok(job)
    }

    /// All jobs as they are now, and the entries and positions of the book.
    fn views(&mut self) -> Result<(Arc<Vec<JobView>>, u64, u64)> {
        let now = Instant::now();
        let jobs = self.book.jobs()?;
        let running = jobs.iter().filter(|job| job.state == JobState::Running);
        self.running = running.map(|job| (job.id, job.spec.variant, job.spec.bounds.priority)).collect();
        self.running.sort_by_key(|(.., priority)| std::cmp::Reverse(*priority));
        let mut views = Vec::with_capacity(jobs.len());
        for job in jobs {
            let rate = self.rates.entry(job.id).or_default().rate(now, job.positions);
            let (count, mut asides) = self.asides.get(&job.id).cloned().unwrap_or_default();
            if count != job.set_aside {
                asides = self.book.asides(job.id, MOST_ASIDES)?.into();
                self.asides.insert(job.id, (job.set_aside, Arc::clone(&asides)));
            }
            views.push(JobView { job, asides, rate });
        }
        Ok((Arc::new(views), self.book.sequence().0, self.book.len()))
    }

    /// Gives the workers what they can take, from all running jobs in turn; a job of lower priority has what those of
    /// higher leave.
    fn refill(&mut self) -> Result<()> {
        let Some(hub) = self.hub.upgrade() else { return Ok(()) };
        for (index, (id, variant, priority)) in self.running.clone().into_iter().enumerate() {
            let equals = self.running[index..].iter().filter(|(.., other)| *other == priority).count();
            let share = hub.appetite(variant).div_ceil(equals);
            let works = self.book.next_work(id, share)?;
            if works.is_empty() {
                continue;
            }
            let split = self.book.job(id)?.spec.split;
            for work in works {
                // Only a question that may be divided needs to know its candidates.
                let shallow = if split { shallow(&work.question.position)? } else { Answer::new() };
                hub.build(work, shallow, split);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets every task run until it waits.
    async fn all_wait() {
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn no_more_questions_wait_at_the_desk_than_it_has_places() {
        let (desk, end) = KeeperDesk::new();
        let ask = || {
            let desk = desk.clone();
            tokio::spawn(async move { desk.lookup(Vec::new()).await })
        };
        let first: Vec<_> = (0..3 * MOST_ASKED).map(|_| ask()).collect();
        all_wait().await;
        let waiting: Vec<Command> = end.orders.try_iter().collect();
        assert_eq!(waiting.len(), MOST_ASKED);
        // Who goes away leaves the question behind, and its place taken.
        first.iter().for_each(tokio::task::JoinHandle::abort);
        let second: Vec<_> = (0..MOST_ASKED + 1).map(|_| ask()).collect();
        all_wait().await;
        assert_eq!(end.orders.try_iter().count(), 0);
        drop(waiting);
        let mut served = 0;
        while served < second.len() {
            all_wait().await;
            let waiting: Vec<Command> = end.orders.try_iter().collect();
            assert!((1..=MOST_ASKED).contains(&waiting.len()), "{} wait", waiting.len());
            for command in waiting {
                let Command::Lookup(_, reply) = command else { panic!("nobody asked that") };
                reply.give(Ok(Vec::new()));
                served += 1;
            }
        }
        for answer in second {
            assert!(matches!(answer.await, Ok(Ok(Ok(found))) if found.is_empty()));
        }
    }
}
