//! A journal without what was superseded, and a store of one sealed file.

use std::collections::HashMap;
use std::path::Path;

use crate::book::answered;
use crate::graph::id::Id;
use crate::graph::index::AsideBody;
use crate::jobs::job::{Job, JobChange, JobId, JobState};
use crate::journal::entry::{AnswerBody, LogEntry};
use crate::journal::file::{Journal, Sequence};
use crate::journal::rewrite::Rewrite;
use crate::{Book, BookError, BookOptions, Notice};

/// What a compaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactReport {
    /// Entries of the journal before.
    pub entries_before: u64,
    /// Entries that it has now.
    pub entries: u64,
    /// Bytes of all files before.
    pub bytes_before: u64,
    /// Bytes of all files now.
    pub bytes: u64,
    /// What the opening of the book had to say.
    pub notices: Vec<Notice>,
}

/// What the journal says of a position.
#[derive(Default)]
struct Story {
    /// The first answer that still counts, 0 for none, and for which job it was.
    first: u64,
    job: Option<u32>,
    /// Answers that count.
    answers: u32,
    /// Entries of all kinds.
    entries: u32,
    /// Where it was last said that they are not to be believed; 0 where they are.
    distrusted: u64,
    /// Dropping what no longer counts would change how many positions a job has.
    is_kept: bool,
}

impl Story {
    fn is_longer_than_needed(&self) -> bool {
        !self.is_kept && self.entries > u32::from(self.answers > 0) + u32::from(self.distrusted > 0)
    }

    /// Whether an entry still counts; where there are several answers, the first stands for all.
    fn tells(&self, number: u64) -> bool {
        self.is_kept || number == self.first || number == self.distrusted
    }

    fn answer(&mut self, number: u64, body: &AnswerBody) {
        self.entries += 1;
        match (self.answers > 0, self.distrusted > 0) {
            // It goes with what it was to complete.
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

/// What the journal says, and what of it still counts.
#[derive(Default)]
struct Stories {
    positions: HashMap<Id, Story>,
    /// Times that a position was set aside.
    asides: u64,
}

impl Stories {
    /// Of the jobs that are told so every answer counts.
    fn read(journal: &Path, counting: &[JobId]) -> Result<Self, BookError> {
        let mut stories = Self::default();
        Journal::scan(journal, None, &mut |Sequence(number), bytes| {
            let entry = read(number, bytes)?;
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
                LogEntry::Job(_) | LogEntry::Change(..) | LogEntry::Walk { .. } => {}
            }
            Ok(())
        })?;
        Ok(stories)
    }
}

fn read(number: u64, bytes: &[u8]) -> Result<LogEntry, BookError> {
    postcard::from_bytes(bytes).map_err(|_| BookError::Unreadable(number))
}

impl Book {
    /// Writes the journal anew, with one entry for all answers to a position and none for what no longer counts, and the store as
    /// one sealed file; then opens the book. It holds what it held: positions, what was searched, jobs and what waits for them.
    /// Takes some 100 bytes of memory for each position.
    ///
    /// # Errors
    /// A damaged record, or what the disk says; then the book is as it was, or as it should be.
    pub fn compact(self, options: &BookOptions) -> Result<(Self, CompactReport), BookError> {
        self.syncer().sync()?;
        let (bytes_before, entries_before) = (self.bytes()?, self.sequence().0);
        let jobs = self.jobs()?;
        let counts =
            |job: &&Job| job.spec.build.deepen.is_some() || job.spec.build.total_nodes.is_some();
        let counting: Vec<JobId> = jobs.iter().filter(counts).map(|job| job.id).collect();
        let stories = Stories::read(&self.path.join("journal"), &counting)?;
        let aside: u64 = jobs.iter().map(|job| job.set_aside).sum();
        let is_shorter =
            stories.asides > aside || stories.positions.values().any(Story::is_longer_than_needed);
        let (mut book, notices) = if is_shorter {
            self.rewritten(&stories, options)?
        } else {
            (self, Vec::new())
        };
        book.syncer().sync()?;
        book.store.compact()?;
        let (entries, bytes) = (book.sequence().0, book.bytes()?);
        Ok((
            book,
            CompactReport {
                entries_before,
                entries,
                bytes_before,
                bytes,
                notices,
            },
        ))
    }

    /// The same book, of a journal that says only what counts.
    fn rewritten(
        self,
        stories: &Stories,
        options: &BookOptions,
    ) -> Result<(Self, Vec<Notice>), BookError> {
        let (jobs, mut index) = (self.jobs()?, self.index());
        let mut new = Rewrite::begin(&self.path)?;
        Journal::scan(
            &self.path.join("journal"),
            None,
            &mut |Sequence(number), bytes| {
                let entry = read(number, bytes)?;
                let Some((id, story)) = entry
                    .about()?
                    .and_then(|id| Some((id, stories.positions.get(&id)?)))
                else {
                    return if matches!(entry, LogEntry::SetAside { .. }) {
                        Ok(())
                    } else {
                        new.add_bytes(bytes)
                    };
                };
                match entry {
                    LogEntry::Answer(_)
                        if number == story.first && !story.is_kept && story.answers > 1 =>
                    {
                        let node = index.node(id)?.ok_or(BookError::Record(id.key()))?;
                        new.add(&answered(
                            story.job.map(JobId),
                            false,
                            &node.position,
                            &node.facts,
                        ))
                    }
                    LogEntry::Answer(_) | LogEntry::Distrust { .. } if story.tells(number) => {
                        new.add_bytes(bytes)
                    }
                    _ => Ok(()),
                }
            },
        )?;
        // What is set aside may be so because of an answer that is part of another now.
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
        let path = self.path.clone();
        new.finish(None)?;
        drop(self);
        let (mut book, notices) = Self::open(&path, options)?;
        for job in jobs {
            book.bring_back(&job)?;
        }
        Ok((book, notices))
    }

    /// Where there is one answer in place of several, a job may have had nothing left to do for a moment and be done too early, or
    /// always something, and not be done; or it came to a position at another time, when there was more or less to search there.
    fn bring_back(&mut self, before: &Job) -> Result<(), BookError> {
        if self.job(before.id)?.positions != before.positions {
            self.change_job(before.id, JobChange::Count(before.positions))?;
        }
        if self.job(before.id)?.state == before.state {
            return Ok(());
        }
        self.change_job(before.id, JobChange::Target(before.target()))?;
        match &before.state {
            JobState::Running => {}
            JobState::Done => {
                self.change_job(before.id, JobChange::Finish)?;
            }
            JobState::Paused => {
                self.change_job(before.id, JobChange::Pause)?;
            }
            JobState::Cancelled => {
                self.log_change(before.id, JobChange::Cancel)?;
            }
            JobState::Failed(reason) => {
                self.change_job(before.id, JobChange::Fail(reason.clone()))?;
            }
        }
        Ok(())
    }
}
