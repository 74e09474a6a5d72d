//! Compaction: a journal without superseded entries, and a store of one sorted file.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::base::id::Id;
use crate::book::answered;
use crate::error::BookError;
use crate::graph::index::AsideBody;
use crate::graph::keys::ANNOTATED;
use crate::journal::entry::{AnswerBody, LogEntry};
use crate::journal::reader;
use crate::journal::rewrite::Rewrite;
use crate::maintenance::annotations::entries;
use crate::settings::job::{Job, JobChange, JobId, JobState};
use crate::{Book, BookOptions, Notice};

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactReport {
    /// Positions of the book.
    pub positions: u64,
    /// Entries of the journal before.
    pub entries_before: u64,
    /// Entries of the journal now.
    pub entries: u64,
    /// Bytes of all files before.
    pub bytes_before: u64,
    /// Bytes of all files now.
    pub bytes: u64,
    /// The notices of the opening of the book.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

/// The entries of the journal about one position.
#[derive(Default)]
struct Story {
    /// The number of the first answer that still counts, 0 for none, and its job.
    first: u64,
    job: Option<u32>,
    /// Answers that count.
    answers: u32,
    /// Entries of all kinds.
    entries: u32,
    /// The number of the entry that invalidated the answers last; 0 where they are valid.
    distrusted: u64,
    /// Whether all entries stay, because fewer would change the number of positions of a job.
    is_kept: bool,
}

impl Story {
    fn is_longer_than_needed(&self) -> bool {
        !self.is_kept && self.entries > u32::from(self.answers > 0) + u32::from(self.distrusted > 0)
    }

    /// Returns whether an entry stays. The first of several answers stands for all.
    fn tells(&self, number: u64) -> bool {
        self.is_kept || number == self.first || number == self.distrusted
    }

    fn answer(&mut self, number: u64, body: &AnswerBody) {
        self.entries += 1;
        match (self.answers > 0, self.distrusted > 0) {
            // An answer that completes an invalid one is invalid, too.
            (true, true) if body.is_widening => {}
            (true, false) => self.answers += 1,
            _ => (self.first, self.job, self.answers, self.distrusted) = (number, body.job, 1, 0),
        }
    }

    fn distrust(&mut self, number: u64, job: Option<u32>) {
        self.entries += 1;
        if self.answers > 0 && self.distrusted == 0 {
            self.distrusted = number;
            self.is_kept |= job != self.job;
        }
    }
}

/// The entries of the journal about all positions.
#[derive(Default)]
struct Stories {
    positions: HashMap<Id, Story>,
    /// Entries that a position is skipped.
    asides: u64,
    /// Entries with annotations.
    annotated: u64,
}

impl Stories {
    /// Reads the journal. Every answer for one of the jobs `counting` stays, because these jobs
    /// count their answers.
    fn read(journal: &Path, counting: &[JobId]) -> Result<Self, BookError> {
        let mut stories = Self::default();
        reader::scan(journal, None, &mut |sequence, bytes, _| {
            let number = sequence.0;
            let entry = LogEntry::decode(sequence, bytes)?;
            let Some(id) = entry.about()? else {
                return Ok(());
            };
            match &entry {
                LogEntry::Answer(body) => {
                    let story = stories.positions.entry(id).or_default();
                    story.answer(number, body);
                    story.is_kept |= body.job.is_some_and(|job| counting.contains(&JobId(job)));
                }
                LogEntry::Distrust { job, .. } => stories
                    .positions
                    .entry(id)
                    .or_default()
                    .distrust(number, *job),
                LogEntry::SetAside { .. } => stories.asides += 1,
                LogEntry::Annotate { .. } => stories.annotated += 1,
                LogEntry::Job(_) | LogEntry::Change(..) | LogEntry::Walk { .. } => {}
            }
            Ok(())
        })?;
        Ok(stories)
    }
}

impl Book {
    /// Rewrites the journal with one entry for all answers to a position and none that is
    /// superseded, rewrites the store as one sorted file, and opens the book. Positions, records,
    /// jobs and frontiers stay the same. Takes about 100 bytes of memory for each position.
    ///
    /// # Errors
    /// If a record is damaged or the disk refuses. Then the book is the old one or the new one,
    /// whole.
    pub fn compact(self, options: &BookOptions) -> Result<(Self, CompactReport), BookError> {
        self.require_folder()?;
        self.syncer().sync()?;
        let (bytes_before, entries_before) = (self.bytes()?, self.sequence().0);
        let jobs = self.jobs()?;
        let counts =
            |job: &&Job| job.spec.build.deepen.is_some() || job.spec.build.total_nodes.is_some();
        let counting: Vec<JobId> = jobs.iter().filter(counts).map(|job| job.id).collect();
        let stories = Stories::read(&self.path.join("journal"), &counting)?;
        let aside: u64 = jobs.iter().map(|job| job.set_aside).sum();
        let annotated = self.store.range(&[ANNOTATED], &[ANNOTATED]).count() as u64;
        let is_shorter = stories.asides > aside
            || stories.annotated > annotated
            || stories.positions.values().any(Story::is_longer_than_needed);
        let (mut book, notices) = if is_shorter {
            self.rewritten(&stories, options)?
        } else {
            (self, Vec::new())
        };
        book.syncer().sync()?;
        book.store.compact()?;
        let report = CompactReport {
            positions: book.len(),
            entries_before,
            entries: book.sequence().0,
            bytes_before,
            bytes: book.bytes()?,
            notices,
        };
        Ok((book, report))
    }

    /// Rewrites the journal and opens the book again.
    fn rewritten(
        self,
        stories: &Stories,
        options: &BookOptions,
    ) -> Result<(Self, Vec<Notice>), BookError> {
        let (jobs, mut index) = (self.jobs()?, self.index());
        let mut new = Rewrite::begin(&self.path)?;
        reader::scan(
            &self.path.join("journal"),
            None,
            &mut |sequence, bytes, _| {
                let number = sequence.0;
                let entry = LogEntry::decode(sequence, bytes)?;
                if matches!(entry, LogEntry::Annotate { .. }) {
                    return Ok(());
                }
                let Some((id, story)) = entry
                    .about()?
                    .and_then(|id| Some((id, stories.positions.get(&id)?)))
                else {
                    return if matches!(entry, LogEntry::SetAside { .. }) {
                        Ok(())
                    } else {
                        Ok(new.add_bytes(bytes)?)
                    };
                };
                match entry {
                    LogEntry::Answer(_)
                        if number == story.first && !story.is_kept && story.answers > 1 =>
                    {
                        let node = index.node(id)?.ok_or(BookError::Record(id.key()))?;
                        let (job, facts) = (story.job.map(JobId), node.facts.clone());
                        let (entry, _) = answered(job, false, &node.position, facts);
                        Ok(new.add(&entry)?)
                    }
                    LogEntry::Answer(_) | LogEntry::Distrust { .. } if story.tells(number) => {
                        Ok(new.add_bytes(bytes)?)
                    }
                    _ => Ok(()),
                }
            },
        )?;
        // A position may be skipped because of an answer that is merged into another now, so say so
        // explicitly.
        for job in &jobs {
            for (id, AsideBody { packed, reason }) in index.asides(job.id.0, usize::MAX)? {
                new.add(&LogEntry::SetAside {
                    job: job.id.0,
                    variant: id.variant(),
                    packed,
                    reason,
                })?;
            }
        }
        for annotations in self.annotations_of_all() {
            entries(annotations?).try_for_each(|entry| new.add(&entry))?;
        }
        let path = self.path.clone();
        self.replace_journal(new)?;
        let (mut book, notices) = Self::open(&path, options)?;
        for job in jobs {
            book.bring_back(&job)?;
        }
        Ok((book, notices))
    }

    /// Restores the state and the count of a job. With one answer in place of several a job may be
    /// done too early or too late, or reach a position when there was more or less to search there.
    fn bring_back(&mut self, before: &Job) -> Result<(), BookError> {
        if self.job(before.id)?.positions != before.positions {
            self.change_job(before.id, JobChange::Count(before.positions))?;
        }
        if self.job(before.id)?.state == before.state {
            return Ok(());
        }
        self.change_job(before.id, JobChange::Target(before.target()))?;
        let change = match &before.state {
            JobState::Running => return Ok(()),
            JobState::Done => JobChange::Finish,
            JobState::Paused => JobChange::Pause,
            JobState::Cancelled => JobChange::Cancel,
            JobState::Failed(reason) => JobChange::Fail(reason.clone()),
        };
        self.log_change(before.id, change).map(drop)
    }
}
