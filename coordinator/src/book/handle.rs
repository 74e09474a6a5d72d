//! The channel to the book writer, and the state of the book as it is on disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use kagetsu_book::{
    Annotation, Aside, BookError, BookSnapshot, Entry, Job, JobChange, JobId, JobSpec, JobState,
    JournalDigest, JournalError, Sequence, Work,
};
use kagetsu_game::{Answer, Position, Question, Variant};
use kagetsu_reader::{BookClosed, GrowingBook};
use kagetsu_schedule::{QuestionId, TaskId, WorkerId};
use kagetsu_verification::QuarantinedWorker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tonic::Status;

use super::rates::fading;
use super::status;

/// Clients' requests in the book writer's queue; further clients wait before it.
const MAX_CLIENT_REQUESTS: usize = 64;

/// The way back to a client. It occupies a place in the queue until it is answered, even if the
/// client has gone.
pub(crate) struct Reply<T> {
    to: oneshot::Sender<Result<T, BookError>>,
    _permit: OwnedSemaphorePermit,
}

impl<T> Reply<T> {
    pub(crate) fn is_awaited(&self) -> bool {
        !self.to.is_closed()
    }

    pub(crate) fn give(self, answer: Result<T, BookError>) {
        // The client may have gone.
        let _ = self.to.send(answer);
    }
}

/// A callback for the moment at which an answer is on disk, or refused by the book.
pub(crate) type Stored = Box<dyn FnOnce(Result<(), String>) + Send>;

/// A request to the book writer.
pub(crate) enum Command {
    /// Puts the answer of a build into the book.
    Finish(QuestionId, Box<Work>, Answer),
    /// Stores the answer of an analysis.
    Store(QuestionId, Box<Position>, Answer, Stored),
    /// Lets a job go on without a position, for this reason.
    SetAside(Box<Work>, String),
    /// Returns a position to its job: it waits to be asked again.
    Release(Box<Work>),
    /// Takes answers out of the book; their positions wait to be asked again.
    Retract(Vec<(Option<JobId>, Position)>),
    /// Claims the tasks of an earlier coordinator process that a worker has at hand.
    Reclaim(WorkerId, Vec<(TaskId, Option<Question>)>),
    /// Stores the list of quarantined workers beside the book.
    StoreQuarantine(Vec<QuarantinedWorker>),
    /// This coordinator leads the book, whose journal has this end.
    Lead(Sequence, JournalDigest),
    /// The leader has appended to the journal, which has this end.
    Follow(Sequence, JournalDigest),
    /// The book writer must end for this reason.
    End(JournalError),
    Refill,
    Learn(Box<Position>, Answer, Reply<()>),
    Annotate(Box<Position>, [Vec<Annotation>; 2], Reply<()>),
    Start(Box<JobSpec>, Reply<Job>),
    Change(String, JobChange, Reply<Job>),
    Lookup(Vec<Position>, Reply<Vec<Option<Entry>>>),
    /// Asks for the book as it is now.
    Snapshot(Sender<Arc<BookSnapshot>>),
    Stop,
}

/// The workers as the book writer sees them.
pub(crate) trait Workforce: Send + Sync {
    /// Returns how many more positions of the variant the workers could take at once.
    fn appetite(&self, variant: Variant) -> usize;

    /// Asks for a position of a build. `candidates` is its 2-ply answer if it may be split.
    fn ask(&self, work: Work, candidates: Answer, may_split: bool);

    /// A worker has at hand, from an earlier coordinator process, a position that waits.
    fn resume(&self, worker: WorkerId, work: Work);

    /// A worker has at hand, from an earlier coordinator process, a question that is asked already:
    /// it may answer as well.
    fn share(&self, worker: WorkerId, task: TaskId, question: &Question);

    /// A worker need not go on with a task.
    fn revoke(&self, worker: WorkerId, task: TaskId);

    /// Drops the questions of a job. Returns its positions.
    fn withdraw(&self, job: JobId) -> Vec<Work>;

    /// The answers of these questions are on disk: acknowledges their reports.
    fn settle(&self, questions: &[QuestionId]);

    /// Counts an answer that the book refused.
    fn count_conflict(&self);
}

/// The channel to the book writer. Its queue is bounded: answers of builds by the tasks that were
/// handed out, clients' requests by [`MAX_CLIENT_REQUESTS`].
#[derive(Clone)]
pub(crate) struct BookHandle {
    commands: Sender<Command>,
    permits: Arc<Semaphore>,
    is_refilling: Arc<AtomicBool>,
    jobs: watch::Receiver<Arc<Vec<Arc<JobView>>>>,
    size: Arc<BookSize>,
}

/// The size of the book as it is on disk.
#[derive(Debug, Default)]
pub(crate) struct BookSize {
    entries: AtomicU64,
    positions: AtomicU64,
}

impl BookSize {
    /// Returns the number of journal entries, which grows with every change of the book.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Acquire)
    }

    /// Returns the number of positions with a record.
    pub(crate) fn positions(&self) -> u64 {
        self.positions.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, entries: u64, positions: u64) {
        self.positions.store(positions, Ordering::Release);
        self.entries.store(entries, Ordering::Release);
    }
}

/// A job as it is on disk, with its rate.
#[derive(Clone, Debug)]
pub(crate) struct JobView {
    pub(crate) job: Job,
    /// The first positions that were set aside.
    pub(crate) asides: Arc<[Aside]>,
    /// Positions a second over the last seconds.
    pub(crate) rate: f64,
    /// Time of this snapshot; there is a new one only when the book changes.
    pub(crate) seen: Instant,
}

impl JobView {
    /// Returns the positions a second at this moment; 0 for a job that does not run.
    pub(crate) fn rate_now(&self) -> f64 {
        if self.job.state == JobState::Running {
            fading(self.rate, self.seen.elapsed())
        } else {
            0.0
        }
    }
}

/// All jobs, and the numbers of journal entries and positions of the book.
pub(crate) type Views = (Arc<Vec<Arc<JobView>>>, u64, u64);

impl BookHandle {
    /// Returns the handle, and the book writer's end of the channel.
    pub(crate) fn new() -> (Self, WriterEnd) {
        let (commands, orders) = channel();
        let (shown, jobs) = watch::channel(Arc::default());
        let is_refilling = Arc::new(AtomicBool::new(false));
        let permits = Arc::new(Semaphore::new(MAX_CLIENT_REQUESTS));
        let size = Arc::default();
        let handle = Self {
            commands,
            permits,
            is_refilling: Arc::clone(&is_refilling),
            jobs,
            size: Arc::clone(&size),
        };
        let stop = handle.clone();
        (
            handle,
            WriterEnd {
                orders,
                is_refilling,
                shown,
                size,
                stop,
            },
        )
    }

    /// Sends a command without a reply.
    pub(crate) fn send(&self, command: Command) {
        // If the book writer is gone the coordinator is ending, and says why elsewhere.
        let _ = self.commands.send(command);
    }

    /// Tells the book writer that workers may be without tasks.
    pub(crate) fn refill(&self) {
        if !self.is_refilling.swap(true, Ordering::AcqRel) {
            self.send(Command::Refill);
        }
    }

    pub(crate) fn stop(&self) {
        self.send(Command::Stop);
    }

    /// Asks the book writer. The error of a book writer that has ended is `UNAVAILABLE`.
    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Status> {
        let closed = || Status::unavailable(BookClosed.to_string());
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| closed())?;
        let (to, answer) = oneshot::channel();
        self.send(command(Reply {
            to,
            _permit: permit,
        }));
        answer
            .await
            .map_err(|_| closed())?
            .map_err(|error| status(&error))
    }

    /// Puts an answer into the book that no worker gave.
    pub(crate) async fn learn(&self, position: Position, answer: Answer) -> Result<(), Status> {
        self.ask(|reply| Command::Learn(Box::new(position), answer, reply))
            .await
    }

    /// Writes annotations, and takes others back.
    pub(crate) async fn annotate(
        &self,
        position: Position,
        annotations: [Vec<Annotation>; 2],
    ) -> Result<(), Status> {
        self.ask(|reply| Command::Annotate(Box::new(position), annotations, reply))
            .await
    }

    pub(crate) async fn start(&self, spec: JobSpec) -> Result<Job, Status> {
        self.ask(|reply| Command::Start(Box::new(spec), reply))
            .await
    }

    pub(crate) async fn change(&self, name: String, change: JobChange) -> Result<Job, Status> {
        self.ask(|reply| Command::Change(name, change, reply)).await
    }

    pub(crate) async fn lookup(&self, all: Vec<Position>) -> Result<Vec<Option<Entry>>, Status> {
        self.ask(|reply| Command::Lookup(all, reply)).await
    }

    /// Returns all jobs as they are on disk, now and after each change.
    pub(crate) fn jobs(&self) -> watch::Receiver<Arc<Vec<Arc<JobView>>>> {
        self.jobs.clone()
    }

    /// Returns the size of the book.
    pub(crate) fn size(&self) -> &BookSize {
        &self.size
    }
}

/// Views read snapshots of the book. The number of views that run is their bound.
impl GrowingBook for BookHandle {
    fn snapshot(&self) -> Result<Arc<BookSnapshot>, BookClosed> {
        let (sender, taken) = channel();
        self.send(Command::Snapshot(sender));
        taken.recv().map_err(|_| BookClosed)
    }

    fn entries(&self) -> u64 {
        self.size.entries()
    }

    fn positions(&self) -> u64 {
        self.size.positions()
    }
}

/// The book writer's end of the channel.
pub(crate) struct WriterEnd {
    pub(crate) orders: Receiver<Command>,
    pub(crate) is_refilling: Arc<AtomicBool>,
    pub(crate) shown: watch::Sender<Arc<Vec<Arc<JobView>>>>,
    pub(crate) size: Arc<BookSize>,
    /// Lets the committer end the book writer when the disk fails.
    pub(crate) stop: BookHandle,
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use kagetsu_book::{Book, BookOptions};

    use super::*;
    use crate::book::writer::BookWriter;
    use crate::cluster::shared::Cluster;

    /// Lets every task run until it waits.
    async fn all_wait() {
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn long_reading_holds_up_no_answer() {
        let folder = tempfile::tempdir().expect("room");
        let options = BookOptions::creating();
        let (book, _) = Book::open(folder.path(), &options).expect("opens");
        let (handle, end) = BookHandle::new();
        let workforce = Weak::<Cluster>::new();
        let path = folder.path().to_path_buf();
        let writer = BookWriter::new(book, path, None, end, workforce).expect("readable");
        let writer = std::thread::spawn(|| writer.run());
        let before = handle.snapshot().expect("the writer lives");
        let start = Position::start(Variant::FREESTYLE_15);
        let answer = [kagetsu_builders::opinion(start.distinct_moves()[0], 5)];
        let answer = answer.into_iter().collect();
        let learned = handle.learn(start.clone(), answer).await;
        learned.expect("legal");
        assert_eq!(handle.snapshot().expect("the writer lives").len(), 1);
        assert_eq!(
            (before.len(), before.sequence()),
            (0, Sequence(0)),
            "the book of the moment of the request"
        );
        handle.stop();
        writer.join().expect("no panic").expect("room");
    }

    #[tokio::test]
    async fn queue_of_client_requests_is_bounded() {
        let (handle, end) = BookHandle::new();
        let ask = || {
            let handle = handle.clone();
            tokio::spawn(async move { handle.lookup(Vec::new()).await })
        };
        let first: Vec<_> = (0..3 * MAX_CLIENT_REQUESTS).map(|_| ask()).collect();
        all_wait().await;
        let waiting: Vec<Command> = end.orders.try_iter().collect();
        assert_eq!(waiting.len(), MAX_CLIENT_REQUESTS);
        // A client that goes away leaves its request in the queue.
        first.iter().for_each(tokio::task::JoinHandle::abort);
        let second: Vec<_> = (0..MAX_CLIENT_REQUESTS + 1).map(|_| ask()).collect();
        all_wait().await;
        assert_eq!(end.orders.try_iter().count(), 0);
        drop(waiting);
        let mut served = 0;
        while served < second.len() {
            all_wait().await;
            let waiting: Vec<Command> = end.orders.try_iter().collect();
            assert!(
                (1..=MAX_CLIENT_REQUESTS).contains(&waiting.len()),
                "{} wait",
                waiting.len()
            );
            for command in waiting {
                let Command::Lookup(_, reply) = command else {
                    panic!("a look-up")
                };
                reply.give(Ok(Vec::new()));
                served += 1;
            }
        }
        for answer in second {
            assert!(matches!(answer.await, Ok(Ok(found)) if found.is_empty()));
        }
    }
}
