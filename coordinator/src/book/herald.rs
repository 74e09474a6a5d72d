//! The herald: the thread that makes durable what the keeper has done, and only then says so. The keeper goes on meanwhile.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use kagetsu_book::{Book, Syncer};
use kagetsu_schedule::QuestionId;
use tokio::sync::watch;

use crate::book::desk::{Extent, JobView, Views};
use crate::cluster::hub::Hub;

/// Batches that the keeper may be ahead of the disk.
const MOST_AHEAD: usize = 4;

/// What is to be said when the disk has it.
#[derive(Default)]
pub(crate) struct News {
    /// Questions whose answers are in the book.
    pub(crate) settled: Vec<QuestionId>,
    /// The jobs and the extent of the book after a change, as entries and positions.
    pub(crate) changed: Option<Views>,
    /// Who waits to hear that it is so.
    pub(crate) replies: Vec<Box<dyn FnOnce() + Send>>,
}

impl News {
    fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.changed.is_none() && self.replies.is_empty()
    }

    /// Takes in what came later.
    fn extend(&mut self, later: Self) {
        self.settled.extend(later.settled);
        self.changed = later.changed.or(self.changed.take());
        self.replies.extend(later.replies);
    }
}

/// The keeper's end of the herald.
pub(crate) struct Herald {
    news: Option<SyncSender<News>>,
    thread: Option<JoinHandle<Result<()>>>,
}

/// Where the herald says what is so.
pub(crate) struct Square {
    pub(crate) hub: Weak<Hub>,
    pub(crate) shown: watch::Sender<Arc<Vec<Arc<JobView>>>>,
    pub(crate) extent: Arc<Extent>,
}

impl Herald {
    /// Starts the thread. If the disk says no it ends, and calls `failed` first.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(
        book: &Book,
        square: Square,
        failed: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let (syncer, (news, heard)) = (book.syncer(), sync_channel(MOST_AHEAD));
        let work = move || {
            let ended = proclaim(&syncer, &square, &heard);
            if ended.is_err() {
                failed();
            }
            ended
        };
        let thread = std::thread::Builder::new()
            .name("herald".into())
            .spawn(work)?;
        Ok(Self {
            news: Some(news),
            thread: Some(thread),
        })
    }

    /// To be said as soon as all that was learned so far is durable. Waits while the disk is too far behind.
    ///
    /// # Errors
    /// If the disk has said no.
    pub(crate) fn tell(&mut self, news: News) -> Result<()> {
        if news.is_empty() {
            return Ok(());
        }
        match &self.news {
            Some(sender) if sender.send(news).is_ok() => Ok(()),
            _ => self
                .end()
                .and(Err(anyhow!("the book could not be written"))),
        }
    }

    /// Says all that is left to be said.
    ///
    /// # Errors
    /// If the disk has said no.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.news = None;
        let ended = self.thread.take().map(JoinHandle::join);
        ended
            .unwrap_or(Ok(Ok(())))
            .unwrap_or_else(|_| Err(anyhow!("the herald of the book ended in a panic")))
    }
}

impl Drop for Herald {
    fn drop(&mut self) {
        // Whoever wants to know how it ended has asked.
        let _ = self.end();
    }
}

fn proclaim(syncer: &Syncer, square: &Square, heard: &Receiver<News>) -> Result<()> {
    while let Ok(mut news) = heard.recv() {
        heard.try_iter().for_each(|later| news.extend(later));
        syncer.sync()?;
        let News {
            settled,
            changed,
            replies,
        } = news;
        if let Some((views, entries, positions)) = changed {
            square.extent.set(entries, positions);
            square.shown.send_replace(views);
        }
        replies.into_iter().for_each(|reply| reply());
        if let Some(hub) = square.hub.upgrade().filter(|_| !settled.is_empty()) {
            hub.settle(&settled);
        }
    }
    Ok(())
}
