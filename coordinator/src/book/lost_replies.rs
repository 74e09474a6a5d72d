//! Builds that look for a proof: beside the workers' searches, what beats one reply of the loser is
//! tried on its other replies.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use anyhow::Result;
use kagetsu_book::{Entry, JobState, Place, Policy};
use kagetsu_game::{Answer, Position, Side, Variant};
use kagetsu_proofs::{ProofSource, ReplyProver};
use kagetsu_reader::Source;
use kagetsu_search::Control;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::handle::{BookHandle, JobView};
use crate::replication::leadership::Leadership;

/// Least time between two rounds.
const MIN_PAUSE: Duration = Duration::from_secs(2);

/// Time between two rounds in times of the first one: a quarter of a core at most.
const PAUSE_FACTOR: u32 = 3;

/// Entries that are read at a time.
const PAGE_ENTRIES: usize = 256;

/// Finds replies that lose to the answer to another reply, for the running builds of this
/// coordinator that look for a proof.
pub(crate) struct LostReplies {
    book: BookHandle,
    leadership: Leadership,
    shutdown: CancellationToken,
    control: Control,
    provers: HashMap<Variant, Option<ReplyProver>>,
}

/// A variant, and the side that shall lose.
type Goal = (Variant, Side);

impl LostReplies {
    pub(crate) fn new(
        book: BookHandle,
        leadership: Leadership,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            book,
            leadership,
            shutdown,
            control: Control::new(),
            provers: HashMap::new(),
        }
    }

    /// Works until the shutdown, or until the book is closed.
    pub(crate) async fn run(mut self) {
        let shutdown = self.shutdown.clone();
        let control = self.control.clone();
        tokio::select! {
            () = shutdown.cancelled() => control.stop(),
            () = self.work() => {}
        }
    }

    async fn work(&mut self) {
        let mut jobs = self.book.jobs();
        loop {
            if goals(&jobs.borrow()).is_empty() {
                self.provers.clear();
            }
            if jobs
                .wait_for(|views| !goals(views).is_empty())
                .await
                .is_err()
            {
                return;
            }
            let goals = goals(&jobs.borrow_and_update());
            let begun = Instant::now();
            if self.leadership.is_leader() {
                match self.round(goals).await {
                    Ok(0) => {}
                    Ok(found) => tracing::info!("{found} replies lose to known answers"),
                    Err(error) => {
                        tracing::warn!(
                            "the search for replies that lose to known answers: {error:#}"
                        );
                    }
                }
            }
            tokio::time::sleep(MIN_PAUSE.max(begun.elapsed() * PAUSE_FACTOR)).await;
            // There is nothing new to find in a book that has not changed.
            if jobs.changed().await.is_err() {
                return;
            }
        }
    }

    /// Looks through the book once, and puts what it finds into it. Returns the number of replies.
    async fn round(&mut self, goals: BTreeSet<Goal>) -> Result<usize> {
        let book = WriterBook {
            book: self.book.clone(),
            source: Source::Growing(Box::new(self.book.clone())),
            runtime: Handle::current(),
        };
        let (mut provers, control) = (std::mem::take(&mut self.provers), self.control.clone());
        let search = move || {
            let mut count = 0;
            for (variant, loser) in goals {
                let new = || ReplyProver::new(variant, control.clone());
                if let Some(prover) = provers.entry(variant).or_insert_with(new) {
                    prover.lost_replies(&book, loser, &mut |position, answer| {
                        count += answer.verdicts().len();
                        book.learn(position, answer)
                    })?;
                }
            }
            anyhow::Ok((provers, count))
        };
        let (provers, count) = tokio::task::spawn_blocking(search).await??;
        self.provers = provers;
        Ok(count)
    }
}

/// Returns what the running builds want to prove.
fn goals(views: &[std::sync::Arc<JobView>]) -> BTreeSet<Goal> {
    views
        .iter()
        .map(|view| &view.job)
        .filter(|job| job.state == JobState::Running && job.spec.build.policy == Policy::PROVE)
        .map(|job| (job.spec.variant, job.spec.build.side.other()))
        .collect()
}

/// The book, read and changed by way of its writer.
struct WriterBook {
    book: BookHandle,
    source: Source,
    runtime: Handle,
}

impl WriterBook {
    fn learn(&self, position: Position, answer: Answer) -> Result<()> {
        Ok(self.runtime.block_on(self.book.learn(position, answer))?)
    }
}

impl ProofSource for WriterBook {
    fn lookup(&self, positions: Vec<Position>) -> Result<Vec<Option<Entry>>> {
        Ok(self.runtime.block_on(self.book.lookup(positions))?)
    }

    fn page(&self, after: Option<Place>) -> Result<Vec<Entry>> {
        Ok(self.source.page(after, PAGE_ENTRIES)?)
    }
}
