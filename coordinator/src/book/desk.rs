//! Where the others ask the [keeper](crate::book::keeper), and hear how the book stands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use kagetsu_book::{Aside, BookError, Entry, Job, JobChange, JobId, JobSpec, JobState, Work};
use kagetsu_game::{Answer, Position, Question};
use kagetsu_schedule::{QuestionId, TaskId, WorkerId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::book::progress::fading;
use crate::verification::prover::Kept;
use crate::verification::quarantine::Confined;

/// Questions of clients that wait for the keeper at a time. Who comes later waits before its desk.
const MOST_ASKED: usize = 64;

/// Who asked. Has one of the places at the desk until it is answered, whether anybody still listens or not.
pub(crate) struct Reply<T> {
    to: oneshot::Sender<Result<T, BookError>>,
    _place: OwnedSemaphorePermit,
}

impl<T> Reply<T> {
    pub(crate) fn is_awaited(&self) -> bool {
        !self.to.is_closed()
    }

    pub(crate) fn give(self, answer: Result<T, BookError>) {
        // Who asked may have gone.
        let _ = self.to.send(answer);
    }
}

/// What the keeper can be asked to do.
pub(crate) enum Command {
    Finish(QuestionId, Box<Work>, Answer),
    Keep(Box<Kept>, Answer),
    SetAside(Box<Work>, String),
    Release(Box<Work>),
    Distrust(Vec<(Option<JobId>, Position)>),
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
    jobs: watch::Receiver<Arc<Vec<Arc<JobView>>>>,
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
    /// When this was so. Nobody looks while the book does not change.
    pub(crate) seen: Instant,
}

impl JobView {
    /// Positions a second as it is now; 0 of a job that does not run.
    pub(crate) fn rate_now(&self) -> f64 {
        if self.job.state == JobState::Running {
            fading(self.rate, self.seen.elapsed())
        } else {
            0.0
        }
    }
}

/// All jobs, and the entries and positions of the book.
pub(crate) type Views = (Arc<Vec<Arc<JobView>>>, u64, u64);

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
        let desk = Self {
            commands,
            places,
            is_refilling: Arc::clone(&is_refilling),
            jobs,
            extent: Arc::clone(&extent),
        };
        let stop = desk.clone();
        (
            desk,
            KeeperEnd {
                orders,
                is_refilling,
                shown,
                extent,
                stop,
            },
        )
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
    pub(crate) fn distrust(&self, said: Vec<(Option<JobId>, Position)>) {
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

    async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<Result<T, BookError>, Closed> {
        let place = Arc::clone(&self.places)
            .acquire_owned()
            .await
            .map_err(|_| Closed)?;
        let (to, answer) = oneshot::channel();
        self.send(command(Reply { to, _place: place }));
        answer.await.map_err(|_| Closed)
    }

    pub(crate) async fn start(&self, spec: JobSpec) -> Result<Result<Job, BookError>, Closed> {
        self.ask(|reply| Command::Start(Box::new(spec), reply))
            .await
    }

    pub(crate) async fn change(
        &self,
        name: String,
        change: JobChange,
    ) -> Result<Result<Job, BookError>, Closed> {
        self.ask(|reply| Command::Change(name, change, reply)).await
    }

    pub(crate) async fn lookup(
        &self,
        all: Vec<Position>,
    ) -> Result<Result<Vec<Option<Entry>>, BookError>, Closed> {
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
    pub(crate) fn jobs(&self) -> watch::Receiver<Arc<Vec<Arc<JobView>>>> {
        self.jobs.clone()
    }

    /// How far the book has come.
    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }
}

/// The keeper's end of the desk.
pub(crate) struct KeeperEnd {
    pub(crate) orders: Receiver<Command>,
    pub(crate) is_refilling: Arc<AtomicBool>,
    pub(crate) shown: watch::Sender<Arc<Vec<Arc<JobView>>>>,
    pub(crate) extent: Arc<Extent>,
    /// For the herald, to say that the disk says no.
    pub(crate) stop: KeeperDesk,
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
            assert!(
                (1..=MOST_ASKED).contains(&waiting.len()),
                "{} wait",
                waiting.len()
            );
            for command in waiting {
                let Command::Lookup(_, reply) = command else {
                    panic!("nobody asked that")
                };
                reply.give(Ok(Vec::new()));
                served += 1;
            }
        }
        for answer in second {
            assert!(matches!(answer.await, Ok(Ok(Ok(found))) if found.is_empty()));
        }
    }
}
