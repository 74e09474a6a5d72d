//! The book writer: the thread that owns the book. The [committer](super::committer) makes its
//! changes durable and publishes them.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_book::{
    Book, BookError, BookSnapshot, Entry, Job, JobChange, JobError, JobId, JobState, LearnError,
    Sequence, Work,
};
use kagetsu_game::{Answer, Position, Question, Variant};
use kagetsu_schedule::{TaskId, WorkerId};
use kagetsu_verification::QuarantinedWorker;

use super::committer::{CommitBatch, Committer, Publisher};
use super::handle::{Command, JobView, Reply, Views, Workforce, WriterEnd};
use super::rates::Rates;
use crate::candidates::candidates;
use crate::replication::replica::Replica;
use crate::verification::quarantine_file;

/// Commands between two writes to the disk.
const MAX_BATCH: usize = 256;

/// Time between two looks at a committer that is behind.
const COMMIT_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Positions set aside that a list of jobs shows.
const MAX_ASIDES_SHOWN: usize = 20;

/// The part of a job by which positions are handed out.
#[derive(Clone, Copy)]
struct RunningJob {
    id: JobId,
    variant: Variant,
    priority: i8,
    /// Whether the workers share each of its positions.
    is_split: bool,
}

/// The owner of the book.
pub(crate) struct BookWriter {
    pub(super) book: Book,
    folder: PathBuf,
    /// This coordinator's part in the replication of a book whose journal is in a database.
    replica: Option<Replica>,
    pub(super) orders: Receiver<Command>,
    /// Commands that came while the committer was behind, in order.
    deferred: VecDeque<Command>,
    pub(super) is_refilling: Arc<AtomicBool>,
    pub(super) committer: Committer,
    workforce: Weak<dyn Workforce>,
    /// Running jobs, the most urgent first.
    running: Vec<RunningJob>,
    rates: BTreeMap<JobId, Rates>,
    views: BTreeMap<JobId, Arc<JobView>>,
    /// The book as it is, if it was read since its last change.
    snapshot: Option<Arc<BookSnapshot>>,
}

impl BookWriter {
    /// Returns a book writer that has published the jobs.
    ///
    /// # Errors
    /// If the book cannot be read or written.
    pub(crate) fn new(
        book: Book,
        folder: PathBuf,
        replica: Option<Replica>,
        end: WriterEnd,
        workforce: Weak<dyn Workforce>,
    ) -> Result<Self> {
        let WriterEnd {
            orders,
            is_refilling,
            shown,
            size,
            stop,
        } = end;
        let publisher = Publisher {
            workforce: Weak::clone(&workforce),
            jobs: shown,
            size,
        };
        let committer = Committer::start(&book, publisher, move || stop.stop())?;
        let all: Vec<JobId> = book.jobs()?.iter().map(|job| job.id).collect();
        let mut writer = Self {
            book,
            folder,
            replica,
            orders,
            deferred: VecDeque::new(),
            is_refilling,
            committer,
            workforce,
            running: Vec::new(),
            rates: BTreeMap::new(),
            views: BTreeMap::new(),
            snapshot: None,
        };
        let (published, is_published) = std::sync::mpsc::channel();
        let publish: Box<dyn FnOnce() + Send> = Box::new(move || {
            // The receiver waits below.
            let _ = published.send(());
        });
        let changed = Some(writer.views(all)?);
        writer.committer.send(CommitBatch {
            changed,
            replies: vec![publish],
            ..CommitBatch::default()
        })?;
        if is_published.recv().is_err() {
            // The committer has ended; this says why.
            writer.committer.end()?;
        }
        Ok(writer)
    }

    /// Carries out commands until it is stopped. Everything that was acknowledged is on disk
    /// when it ends, with or without an error.
    pub(crate) fn run(mut self) -> Result<()> {
        if let Some(replica) = self.replica.clone()
            && !self.follow(&replica)?
        {
            self.committer.end()?;
            return self.book.close().context("cannot close the book");
        }
        self.refill_and_publish()?;
        while let Some(command) = self.next_command()? {
            let mut batch = vec![command];
            while batch.len() < MAX_BATCH
                && let Some(command) = self.deferred.pop_front()
            {
                batch.push(command);
            }
            let more = MAX_BATCH - batch.len();
            batch.extend(self.orders.try_iter().take(more));
            if !self.carry_out(batch)? {
                break;
            }
        }
        self.committer.end()?;
        self.book.close().context("cannot close the book")
    }

    /// Returns the next command, once the committer has room for its results; `None` after the last
    /// one. Look-ups do not wait for the committer.
    fn next_command(&mut self) -> Result<Option<Command>> {
        while self.committer.is_behind() {
            match self.orders.recv_timeout(COMMIT_POLL_INTERVAL) {
                Ok(read @ (Command::Lookup(..) | Command::Snapshot(_))) => self.read(read),
                Ok(other) => self.deferred.push_back(other),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.committer.send(CommitBatch::default())?;
        }
        match self.deferred.pop_front() {
            Some(command) => Ok(Some(command)),
            None => Ok(self.orders.recv().ok()),
        }
    }

    /// Waits until the committer has taken all results.
    pub(super) fn publish_waiting(&mut self) -> Result<()> {
        while self.committer.is_behind() {
            std::thread::sleep(COMMIT_POLL_INTERVAL);
            self.committer.send(CommitBatch::default())?;
        }
        Ok(())
    }

    /// Answers a request that only reads the book.
    pub(super) fn read(&mut self, command: Command) {
        match command {
            Command::Lookup(positions, reply) => self.look_up(&positions, reply),
            Command::Snapshot(reader) => self.give_snapshot(&reader),
            _ => {}
        }
    }

    /// Gives a reader the book as it is now.
    fn give_snapshot(&mut self, reader: &Sender<Arc<BookSnapshot>>) {
        let sequence = self.book.sequence();
        let known = self.snapshot.take();
        let snapshot = match known.filter(|known| known.sequence() == sequence) {
            Some(snapshot) => Ok(snapshot),
            None => self.book.snapshot().map(Arc::new),
        };
        match snapshot {
            Ok(snapshot) => {
                self.snapshot = Some(Arc::clone(&snapshot));
                // The reader may have gone.
                let _ = reader.send(snapshot);
            }
            // The client is told that the book is closed.
            Err(error) => tracing::error!("the book cannot be read: {error}"),
        }
    }

    fn look_up(&self, positions: &[Position], reply: Reply<Vec<Option<Entry>>>) {
        if reply.is_awaited() {
            let found = positions.iter().map(|position| self.book.lookup(position));
            reply.give(found.collect());
        }
    }

    /// Carries out some commands and sends their results to the committer. Returns `false` after a
    /// stop.
    fn carry_out(&mut self, commands: Vec<Command>) -> Result<bool> {
        let before = self.book.sequence();
        let mut goes_on = true;
        let mut may_refill = false;
        let mut batch = CommitBatch::default();
        for command in commands {
            match command {
                Command::Finish(id, work, answer) => {
                    self.finish(&work, &answer)?;
                    batch.settled.push(id);
                    may_refill = true;
                }
                Command::Store(id, position, answer, stored) => {
                    let result = self.store(&position, &answer)?;
                    batch.settled.push(id);
                    batch.replies.push(Box::new(move || stored(result)));
                    may_refill = true;
                }
                Command::SetAside(work, reason) => {
                    self.book
                        .set_aside(&work, &reason)
                        .context("cannot set a position aside")?;
                    may_refill = true;
                }
                Command::Release(work) => {
                    self.book.release(&work);
                    may_refill = true;
                }
                Command::Retract(answers) => {
                    for (job, position) in answers {
                        self.book
                            .distrust(job, &position)
                            .context("cannot take an answer back")?;
                    }
                    may_refill = true;
                }
                Command::StoreQuarantine(all) => self.store_quarantine(&all),
                Command::Reclaim(worker, held) => self.reclaim(worker, held)?,
                Command::Refill => {
                    self.is_refilling.store(false, Ordering::Release);
                    may_refill = true;
                }
                Command::Learn(position, answer, reply) => {
                    if let Err(refused) = self.store(&position, &answer)? {
                        tracing::warn!(%position, reason = refused, "an answer is refused");
                    }
                    batch.replies.push(Box::new(move || reply.give(Ok(()))));
                    may_refill = true;
                }
                Command::Annotate(position, [written, taken_back], reply) => {
                    let taken = self.book.take_back(&position, &taken_back);
                    let done = taken.and_then(|_| self.book.annotate(&position, &written));
                    let done = done.map(drop);
                    batch.replies.push(Box::new(move || reply.give(done)));
                }
                Command::Start(spec, reply) => {
                    let started = self.book.start_job(&spec).and_then(|id| self.book.job(id));
                    batch.replies.push(Box::new(move || reply.give(started)));
                    may_refill = true;
                }
                Command::Change(name, change, reply) => {
                    let changed = self.change(&name, change);
                    batch.replies.push(Box::new(move || reply.give(changed)));
                    may_refill = true;
                }
                Command::Lead(..) | Command::Follow(..) => {}
                Command::End(reason) => return Err(reason.into()),
                Command::Lookup(..) | Command::Snapshot(_) => self.read(command),
                Command::Stop => goes_on = false,
            }
        }
        batch.changed = self.changed(before)?;
        self.committer.send(batch)?;
        if may_refill && goes_on {
            self.refill_and_publish()?;
        }
        Ok(goes_on)
    }

    /// Refills, and publishes a job that turned out to be done.
    fn refill_and_publish(&mut self) -> Result<()> {
        let before = self.book.sequence();
        self.refill()?;
        match self.changed(before)? {
            None => Ok(()),
            changed => self.committer.send(CommitBatch {
                changed,
                ..CommitBatch::default()
            }),
        }
    }

    /// Returns the jobs, if the book has changed.
    pub(super) fn changed(&mut self, before: Sequence) -> Result<Option<Views>> {
        if self.book.sequence() == before {
            return Ok(None);
        }
        self.snapshot = None;
        let changed = self.book.changed_jobs();
        self.views(changed).map(Some)
    }

    /// Stores the list of quarantined workers. If that fails the coordinator goes on with the list
    /// in memory.
    fn store_quarantine(&self, all: &[QuarantinedWorker]) {
        let stored = match &self.replica {
            None => quarantine_file::write(&self.folder, all),
            Some(replica) => quarantine_file::text(all).and_then(|text| {
                let written = replica.lease.write_quarantine(&text);
                written.map_err(std::io::Error::other)
            }),
        };
        if let Err(error) = stored {
            let folder = self.folder.display();
            tracing::error!(%folder, %error, "cannot store the list of quarantined workers; make room, or a restarted coordinator forgets it");
        }
    }

    /// Gives a worker its tasks of an earlier coordinator process, if a running job waits for them.
    fn reclaim(&mut self, worker: WorkerId, held: Vec<(TaskId, Option<Question>)>) -> Result<()> {
        let Some(workforce) = self.workforce.upgrade() else {
            return Ok(());
        };
        for (task, question) in held {
            let mut work = None;
            for job in &self.running {
                if let (None, Some(question)) = (&work, &question) {
                    work = self.book.claim(job.id, question)?;
                }
            }
            match (work, question) {
                (Some(work), _) => workforce.resume(worker, work),
                (None, Some(question)) => workforce.share(worker, task, &question),
                (None, None) => workforce.revoke(worker, task),
            }
        }
        Ok(())
    }

    /// Learns an answer. An answer that the book refuses must not end the coordinator.
    fn finish(&mut self, work: &Work, answer: &Answer) -> Result<()> {
        let refused = match self.book.finish(work, answer) {
            Err(
                error @ (BookError::Learn(LearnError::Illegal { .. })
                | BookError::Learn(LearnError::Collision(_))),
            ) => error.to_string(),
            other => return other.map(drop).context("cannot keep an answer"),
        };
        if let Some(workforce) = self.workforce.upgrade() {
            workforce.count_conflict();
        }
        tracing::warn!(position = %work.question.position, reason = refused, "a position is set aside");
        self.book
            .set_aside(work, &refused)
            .map(drop)
            .context("cannot set a position aside")
    }

    /// Learns the answer of an analysis. The inner error is the book's refusal.
    fn store(&mut self, position: &Position, answer: &Answer) -> Result<Result<(), String>> {
        match self.book.learn(position, answer) {
            Err(
                error @ (BookError::Learn(LearnError::Illegal { .. })
                | BookError::Learn(LearnError::Collision(_))),
            ) => Ok(Err(error.to_string())),
            other => other.map(|_| Ok(())).context("cannot keep an answer"),
        }
    }

    fn change(&mut self, name: &str, change: JobChange) -> Result<Job, BookError> {
        let id = self
            .book
            .job_named(name)
            .ok_or_else(|| JobError::Unknown(name.to_string()))?;
        self.book.change_job(id, change)?;
        let job = self.book.job(id)?;
        if job.state != JobState::Running {
            let workforce = self.workforce.upgrade();
            let works = workforce.map_or_else(Vec::new, |workforce| workforce.withdraw(id));
            works.iter().for_each(|work| self.book.release(work));
        }
        Ok(job)
    }

    /// Returns all jobs, of which these have changed, and the size of the book.
    fn views(&mut self, changed: impl IntoIterator<Item = JobId>) -> Result<Views> {
        let now = Instant::now();
        for id in changed {
            let job = self.book.job(id)?;
            let rate = self.rates.entry(id).or_default().rate(now, job.positions);
            let known = self
                .views
                .get(&id)
                .filter(|view| view.job.set_aside == job.set_aside);
            let asides = match known {
                Some(view) => Arc::clone(&view.asides),
                None => self.book.asides(id, MAX_ASIDES_SHOWN)?.into(),
            };
            self.views.insert(
                id,
                Arc::new(JobView {
                    job,
                    asides,
                    rate,
                    seen: now,
                }),
            );
        }
        let running = self
            .views
            .values()
            .map(|view| &view.job)
            .filter(|job| job.state == JobState::Running);
        self.running = running
            .map(|job| RunningJob {
                id: job.id,
                variant: job.spec.variant,
                priority: job.spec.build.priority,
                is_split: job.spec.build.split,
            })
            .collect();
        self.running
            .sort_by_key(|job| std::cmp::Reverse(job.priority));
        let views = self.views.values().cloned().collect();
        Ok((Arc::new(views), self.book.sequence().0, self.book.len()))
    }

    /// Gives the workers as many positions as they can take, from all running jobs in turn; first
    /// from those of higher priority.
    fn refill(&mut self) -> Result<()> {
        let Some(workforce) = self.workforce.upgrade() else {
            return Ok(());
        };
        for (index, job) in self.running.clone().into_iter().enumerate() {
            let equals = self.running[index..]
                .iter()
                .filter(|other| other.priority == job.priority)
                .count();
            let share = workforce.appetite(job.variant).div_ceil(equals);
            for work in self.book.next_work(job.id, share)? {
                let found = if job.is_split {
                    candidates(&work.question.position)?
                } else {
                    Answer::new()
                };
                workforce.ask(work, found, job.is_split);
            }
        }
        Ok(())
    }
}
