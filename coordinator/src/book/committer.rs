//! The committer thread: syncs the journal, then publishes what the book writer has done. The book
//! writer goes on meanwhile.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use kagetsu_book::{Book, JournalSync};
use kagetsu_schedule::QuestionId;
use tokio::sync::watch;

use super::handle::{BookSize, JobView, Views, Workforce};

/// Batches that the book writer may be ahead of the disk.
const MAX_BATCHES_AHEAD: usize = 4;

/// Time between two syncs where only workers wait. They go on searching meanwhile and keep their
/// answers, so many answers share a sync, and their acknowledgements a message.
const MIN_SYNC_INTERVAL: Duration = Duration::from_millis(50);

/// Events that are published when their entries are on disk.
#[derive(Default)]
pub(crate) struct CommitBatch {
    /// Questions whose answers are in the book.
    pub(crate) settled: Vec<QuestionId>,
    /// Jobs and size of the book, if they have changed.
    pub(crate) changed: Option<Views>,
    /// Replies to clients and workers.
    pub(crate) replies: Vec<Box<dyn FnOnce() + Send>>,
}

impl CommitBatch {
    fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.changed.is_none() && self.replies.is_empty()
    }

    /// Whether it may wait for others: no client waits for a reply.
    fn is_patient(&self) -> bool {
        self.replies.is_empty()
    }

    /// Adds a later batch.
    fn extend(&mut self, later: Self) {
        self.settled.extend(later.settled);
        self.changed = later.changed.or(self.changed.take());
        self.replies.extend(later.replies);
    }
}

/// The book writer's end of the committer.
pub(crate) struct Committer {
    batches: Option<SyncSender<CommitBatch>>,
    /// The batch that the thread has no room for.
    waiting: CommitBatch,
    thread: Option<JoinHandle<Result<()>>>,
}

/// The places where the committer publishes.
pub(crate) struct Publisher {
    pub(crate) workforce: Weak<dyn Workforce>,
    pub(crate) jobs: watch::Sender<Arc<Vec<Arc<JobView>>>>,
    pub(crate) size: Arc<BookSize>,
}

impl Publisher {
    fn publish(&self, batch: CommitBatch) {
        if let Some((views, entries, positions)) = batch.changed {
            self.size.set(entries, positions);
            self.jobs.send_replace(views);
        }
        batch.replies.into_iter().for_each(|reply| reply());
        if let Some(workforce) = self.workforce.upgrade()
            && !batch.settled.is_empty()
        {
            workforce.settle(&batch.settled);
        }
    }
}

impl Committer {
    /// Starts the thread. If the disk fails it calls `failed` and ends.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(
        book: &Book,
        publisher: Publisher,
        failed: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let syncer = book.syncer();
        let (batches, received) = sync_channel(MAX_BATCHES_AHEAD);
        let run = move || {
            let ended = commit(&*syncer, &publisher, &received);
            if ended.is_err() {
                failed();
            }
            ended
        };
        let thread = std::thread::Builder::new()
            .name("committer".into())
            .spawn(run)?;
        Ok(Self {
            batches: Some(batches),
            waiting: CommitBatch::default(),
            thread: Some(thread),
        })
    }

    /// Publishes the batch as soon as all that was learned so far is durable. Where the disk or the
    /// database is too far behind, the batch [waits](Self::is_behind).
    ///
    /// # Errors
    /// If the disk has failed.
    pub(crate) fn send(&mut self, batch: CommitBatch) -> Result<()> {
        self.waiting.extend(batch);
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.waiting);
        match self.batches.as_ref().map(|batches| batches.try_send(batch)) {
            Some(Ok(())) => Ok(()),
            Some(Err(TrySendError::Full(batch))) => {
                self.waiting = batch;
                Ok(())
            }
            Some(Err(TrySendError::Disconnected(_))) | None => self
                .end()
                .and(Err(anyhow!("the book could not be written"))),
        }
    }

    /// Returns whether a batch waits for the disk or the database. Nothing may be added to the book
    /// until it was sent.
    pub(crate) fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Publishes what is left, and ends the thread.
    ///
    /// # Errors
    /// If the disk has failed.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some(batches) = self.batches.take()
            && self.is_behind()
        {
            // Where this fails, the thread has ended with an error.
            let _ = batches.send(std::mem::take(&mut self.waiting));
        }
        let ended = self.thread.take().map(JoinHandle::join);
        ended
            .unwrap_or(Ok(Ok(())))
            .unwrap_or_else(|_| Err(anyhow!("the committer of the book panicked")))
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        // A caller that wants the result calls `end` itself.
        let _ = self.end();
    }
}

fn commit(
    syncer: &dyn JournalSync,
    publisher: &Publisher,
    received: &Receiver<CommitBatch>,
) -> Result<()> {
    let mut next = Instant::now();
    while let Ok(mut batch) = received.recv() {
        received.try_iter().for_each(|later| batch.extend(later));
        while batch.is_patient() {
            let left = next.saturating_duration_since(Instant::now());
            // After the last batch nothing waits.
            let Ok(later) = received.recv_timeout(left) else {
                break;
            };
            batch.extend(later);
        }
        next = Instant::now() + MIN_SYNC_INTERVAL;
        syncer.sync()?;
        publisher.publish(batch);
    }
    Ok(())
}
