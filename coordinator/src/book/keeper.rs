//! The keeper: the thread that has the book. What it has done the [herald](crate::book::herald) makes durable, and says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Weak};
use std::time::Instant;

use anyhow::{Context, Result};
use kagetsu_book::{Book, BookError, Job, JobChange, JobId, JobState, Sequence, Work};
use kagetsu_game::{Answer, Question, Variant};
use kagetsu_schedule::{TaskId, WorkerId};

use crate::book::desk::{Command, JobView, KeeperEnd, Views};
use crate::book::herald::{Herald, News, Square};
use crate::book::progress::Rates;
use crate::cluster::hub::Hub;
use crate::cluster::shallow::shallow;
use crate::verification::prover::Kept;
use crate::verification::quarantine::{self, Confined};

/// Commands done between two writes to the disk.
const BATCH: usize = 256;

/// Positions that a job goes on without of which clients hear.
const MOST_ASIDES: usize = 20;

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
    views: BTreeMap<JobId, Arc<JobView>>,
}

impl Keeper {
    /// A keeper whose jobs can be seen before it runs.
    pub(crate) fn new(book: Book, folder: PathBuf, end: KeeperEnd, hub: &Arc<Hub>) -> Result<Self> {
        let KeeperEnd {
            orders,
            is_refilling,
            shown,
            extent,
            stop,
        } = end;
        let hub = Arc::downgrade(hub);
        let square = Square {
            hub: Weak::clone(&hub),
            shown,
            extent,
        };
        let herald = Herald::start(&book, square, move || stop.stop())?;
        let all: Vec<JobId> = book.jobs()?.iter().map(|job| job.id).collect();
        let (running, rates, views) = Default::default();
        let mut keeper = Self {
            book,
            folder,
            orders,
            is_refilling,
            herald,
            hub,
            running,
            rates,
            views,
        };
        let (to, shown) = std::sync::mpsc::channel();
        let shows: Box<dyn FnOnce() + Send> = Box::new(move || {
            // Who waits for it is below.
            let _ = to.send(());
        });
        let changed = Some(keeper.views(all)?);
        keeper.herald.tell(News {
            changed,
            replies: vec![shows],
            ..News::default()
        })?;
        // The herald that has gone says why when it is told something.
        if shown.recv().is_err() {
            keeper.herald.end()?;
        }
        Ok(keeper)
    }

    /// Keeps the book until it is told to stop. Everything acknowledged is on disk when it ends, whichever way.
    pub(crate) fn run(mut self) -> Result<()> {
        self.feed()?;
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
        let News {
            mut settled,
            mut replies,
            ..
        } = News::default();
        for command in batch {
            match command {
                Command::Finish(id, work, answer) => {
                    self.finish(&work, &answer)?;
                    settled.push(id);
                    is_hungry = true;
                }
                Command::Keep(kept, learned) => {
                    let Kept {
                        id,
                        question,
                        answer,
                        nodes,
                        watched,
                        ..
                    } = *kept;
                    let refused = match self.book.learn(&question.position, &learned) {
                        Err(error @ (BookError::Illegal { .. } | BookError::Collision(_))) => {
                            Some(error.to_string())
                        }
                        other => other.map(|_| None).context("cannot keep an answer")?,
                    };
                    settled.push(id);
                    replies.push(Box::new(move || {
                        watched.end(refused.map_or(Ok((answer, nodes)), Err))
                    }));
                    is_hungry = true;
                }
                Command::SetAside(work, reason) => {
                    self.book
                        .set_aside(&work, &reason)
                        .context("cannot set a position aside")?;
                    is_hungry = true;
                }
                Command::Release(work) => {
                    self.book.release(&work);
                    is_hungry = true;
                }
                Command::Distrust(said) => {
                    for (job, position) in said {
                        self.book
                            .distrust(job, &position)
                            .context("cannot take an answer back")?;
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
                    reply.give(
                        positions
                            .iter()
                            .map(|position| self.book.lookup(position))
                            .collect(),
                    );
                }
                Command::Page(after, most, reply) if reply.is_awaited() => {
                    reply.give(self.book.page(after, most))
                }
                Command::Lookup(..) | Command::Page(..) => {}
                Command::Stop => goes_on = false,
            }
        }
        let changed = self.changed(before)?;
        self.herald.tell(News {
            settled,
            changed,
            replies,
        })?;
        if is_hungry && goes_on {
            self.feed()?;
        }
        Ok(goes_on)
    }

    /// Refills, and has it said where a job that was asked for work found that it is done.
    fn feed(&mut self) -> Result<()> {
        let before = self.book.sequence();
        self.refill()?;
        match self.changed(before)? {
            None => Ok(()),
            changed => self.herald.tell(News {
                changed,
                ..News::default()
            }),
        }
    }

    /// How the jobs stand, if the book has changed.
    fn changed(&mut self, before: Sequence) -> Result<Option<Views>> {
        if self.book.sequence() == before {
            return Ok(None);
        }
        let changed = self.book.changed_jobs();
        self.views(changed).map(Some)
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
        let Some(hub) = self.hub.upgrade() else {
            return Ok(());
        };
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
        self.book
            .set_aside(work, &refused)
            .map(drop)
            .context("cannot set a position aside")
    }

    fn change(&mut self, name: &str, change: JobChange) -> Result<Job, BookError> {
        let id = self
            .book
            .job_named(name)
            .ok_or_else(|| BookError::NoJob(name.to_string()))?;
        self.book.change_job(id, change)?;
        let job = self.book.job(id)?;
        if job.state != JobState::Running {
            let hub = self.hub.upgrade();
            let works = hub.map_or_else(Vec::new, |hub| hub.withdraw(id));
            works.iter().for_each(|work| self.book.release(work));
        }
        Ok(job)
    }

    /// All jobs, of which these have changed, and the entries and positions of the book.
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
                None => self.book.asides(id, MOST_ASIDES)?.into(),
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
            .map(|job| (job.id, job.spec.variant, job.spec.build.priority))
            .collect();
        self.running
            .sort_by_key(|(.., priority)| std::cmp::Reverse(*priority));
        let views = self.views.values().cloned().collect();
        Ok((Arc::new(views), self.book.sequence().0, self.book.len()))
    }

    /// Gives the workers what they can take, from all running jobs in turn; a job of lower priority has what those of
    /// higher leave.
    fn refill(&mut self) -> Result<()> {
        let Some(hub) = self.hub.upgrade() else {
            return Ok(());
        };
        for (index, (id, variant, priority)) in self.running.clone().into_iter().enumerate() {
            let equals = self.running[index..]
                .iter()
                .filter(|(.., other)| *other == priority)
                .count();
            let share = hub.appetite(variant).div_ceil(equals);
            let works = self.book.next_work(id, share)?;
            if works.is_empty() {
                continue;
            }
            let split = self.book.job(id)?.spec.build.split;
            for work in works {
                // Only a question that may be divided needs to know its candidates.
                let shallow = if split {
                    shallow(&work.question.position)?
                } else {
                    Answer::new()
                };
                hub.build(work, shallow, split);
            }
        }
        Ok(())
    }
}
