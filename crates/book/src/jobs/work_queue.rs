//! How the positions of a job are handed out, and what becomes of them.

use std::sync::Arc;

use kagetsu_game::{Answer, Position, Question};

use crate::BookError;
use crate::base::id::{Id, unpack};
use crate::book::{Book, answered};
use crate::graph::index::AsideBody;
use crate::jobs::questions::question;
use crate::journal::entry::LogEntry;
use crate::journal::log::Sequence;
use crate::settings::job::{Aside, Job, JobChange, JobId, JobState, Work};
use crate::settings::policies::selection::Selection;

impl Book {
    /// Hands out up to `n` positions of a running job. They are at hand until they are
    /// [finished](Self::finish), [released](Self::release) or [set aside](Self::set_aside).
    ///
    /// # Errors
    /// A damaged store.
    pub fn next_work(&mut self, job: JobId, n: usize) -> Result<Vec<Work>, BookError> {
        let mut state = self.index().job(job.0)?.clone();
        if state.state != JobState::Running || n == 0 {
            return Ok(Vec::new());
        }
        if state.frontier == 0 && state.walking > 0 {
            // A book that was closed while a job walked goes on when work is asked for, so that
            // opening it changes nothing.
            self.walk_on()?;
            state = self.index().job(job.0)?.clone();
        }
        let at_hand = self
            .jobs
            .at_hand
            .range((job, Id([0; Id::LEN]))..=(job, Id([u8::MAX; Id::LEN])))
            .count() as u64;
        let left = state
            .target
            .saturating_sub(state.positions)
            .saturating_sub(at_hand);
        let n = n.min(usize::try_from(left).unwrap_or(usize::MAX));
        let found = self.choose(job, n, at_hand == 0)?;
        if found.is_empty() {
            if at_hand == 0 {
                self.end_exhausted(job)?;
            }
            return Ok(Vec::new());
        }
        let turn = self.index().account(job.0)?.priority;
        let specs = Arc::clone(&self.jobs.specs);
        let spec = &specs[&job];
        let questions = self.cached(|index| {
            let asked = |at: Id| {
                let reach = index.reach(at)?;
                let priority = index.waiting(job.0, at, &reach)?.unwrap_or_default();
                Ok((question(index, job, spec, at)?, priority, at))
            };
            found
                .into_iter()
                .map(asked)
                .collect::<Result<Vec<_>, BookError>>()
        })?;
        let work = |(question, priority, at)| Work {
            job,
            turn,
            question,
            priority,
            at,
        };
        let works: Vec<Work> = questions.into_iter().map(work).collect();
        self.jobs
            .at_hand
            .extend(works.iter().map(|work| (job, work.at)));
        Ok(works)
    }

    /// Chooses up to `n` positions by the job's policy. Where the policy sees no position that
    /// helps and none is being searched, the most urgent ones may open another way.
    fn choose(&mut self, job: JobId, n: usize, is_idle: bool) -> Result<Vec<Id>, BookError> {
        self.selection(job)?;
        let found = self.select(job, |selection, frontier| selection.next(frontier, n))?;
        if !found.is_empty() || !is_idle {
            return Ok(found);
        }
        if self.cached(|index| index.is_proven(job.0))? {
            // Walking on shows that nothing waits any more, and the job is done.
            self.walk_to_the_end(job)?;
        }
        let found = self.select(job, |_, frontier| frontier.most_urgent(n))?;
        Ok(found)
    }

    /// Ends a running job that has nothing left to search. Other jobs end by themselves as soon as
    /// nothing waits; one that widens known positions may still have these.
    fn end_exhausted(&mut self, job: JobId) -> Result<(), BookError> {
        let state = self.index().job(job.0)?.clone();
        let is_exhausted = state.frontier == 0 && state.walking == 0;
        if state.state == JobState::Running && is_exhausted {
            self.log_change(job, JobChange::Finish)?;
        }
        Ok(())
    }

    /// Returns the selection of a job. The first call makes it.
    fn selection(&mut self, job: JobId) -> Result<&mut dyn Selection, BookError> {
        if !self.jobs.selections.contains_key(&job) {
            let new = self.new_selection(job)?;
            self.jobs.selections.insert(job, new);
        }
        let selection = self.jobs.selections.get_mut(&job);
        Ok(&mut **selection.expect("it was inserted above"))
    }

    fn new_selection(&self, job: JobId) -> Result<Box<dyn Selection>, BookError> {
        let spec = self.jobs.spec(job)?;
        let id = |root: &Position| Id::of(root.variant().code(), &root.canonical());
        let roots = spec.roots.iter().map(id).collect();
        Ok(spec
            .build
            .policy
            .rules()
            .selection(job.0, spec.build.side, roots))
    }

    /// Takes the work of a running job that asks just this, if it waits and is not at hand.
    ///
    /// # Errors
    /// If there is no such job, or the store is damaged.
    pub fn claim(&mut self, job: JobId, question: &Question) -> Result<Option<Work>, BookError> {
        let Job {
            spec,
            state,
            positions,
            ..
        } = self.job(job)?;
        let is_full = spec.build.positions.is_some_and(|most| positions >= most);
        let variant = question.position.variant();
        if state != JobState::Running || is_full || variant != spec.variant {
            return Ok(None);
        }
        let at = Id::of(variant.code(), &question.position.canonical());
        let found = self.cached(|index| {
            let reach = index.reach(at)?;
            let Some(priority) = index.waiting(job.0, at, &reach)? else {
                return Ok(None);
            };
            let asked = self::question(index, job, &spec, at)?;
            Ok::<_, BookError>(Some((priority, asked)))
        })?;
        let Some((priority, asked)) = found else {
            return Ok(None);
        };
        if self.jobs.at_hand.contains(&(job, at)) || asked != *question {
            return Ok(None);
        }
        self.jobs.at_hand.insert((job, at));
        self.selection(job)?.taken(at);
        Ok(Some(Work {
            job,
            turn: spec.build.priority,
            question: asked,
            priority,
            at,
        }))
    }

    /// Learns the answer to a work, and lets the job grow from it. It is durable after a
    /// [`JournalSync::sync`](crate::JournalSync::sync). An answer without moves sets the position
    /// aside, and so does one that values none of the moves without a value that were asked about.
    ///
    /// # Errors
    /// If the answer has an illegal move, or the disk fails; then the book is as it was, and the
    /// work is still at hand.
    pub fn finish(&mut self, work: &Work, answer: &Answer) -> Result<Sequence, BookError> {
        if answer.is_empty() {
            return self.set_aside(work, "the answer has no moves");
        }
        let is_widening = !work.question.moves.is_empty();
        let answer = self.with_suggestions(work, answer)?;
        let position = &work.question.position;
        let learned = answered(Some(work.job), is_widening, position, answer.clone());
        let sequence = self.log_answer(learned)?;
        self.release(work);
        self.name_line(work, &answer)?;
        self.look_back()?;
        self.walk_on()?;
        Ok(sequence)
    }

    /// Returns a work that was not done to the frontier.
    pub fn release(&mut self, work: &Work) {
        self.jobs.at_hand.remove(&(work.job, work.at));
        if let Some(selection) = self.jobs.selections.get_mut(&work.job) {
            selection.released(work.at);
        }
    }

    /// Withdraws what the book has learned about a position, for a job or outside of any: nothing
    /// follows from it any more, and the position waits until the next answer replaces it. It does
    /// nothing for a position that the book does not have.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn distrust(
        &mut self,
        job: Option<JobId>,
        position: &Position,
    ) -> Result<Sequence, BookError> {
        let (variant, packed) = (position.variant().code(), position.canonical().packed.0);
        let sequence = self.log(&LogEntry::Distrust {
            job: job.map(|job| job.0),
            variant,
            packed,
        })?;
        self.walk_on()?;
        Ok(sequence)
    }

    /// Returns the first `most` positions that a job goes on without, and why.
    ///
    /// # Errors
    /// A damaged store.
    pub fn asides(&self, job: JobId, most: usize) -> Result<Vec<Aside>, BookError> {
        let variant = self.jobs.spec(job)?.variant.code();
        let aside = |(_, AsideBody { packed, reason })| {
            Ok(Aside {
                position: unpack(variant, &packed)?,
                reason,
            })
        };
        self.index()
            .asides(job.0, most)?
            .into_iter()
            .map(aside)
            .collect()
    }

    /// Lets a job go on without a position that cannot be searched, until the job is
    /// [told to try again](crate::JobChange::Retry).
    ///
    /// # Errors
    /// If the disk fails.
    pub fn set_aside(&mut self, work: &Work, reason: &str) -> Result<Sequence, BookError> {
        let canonical = work.question.position.canonical();
        let variant = work.question.position.variant().code();
        let (packed, reason) = (canonical.packed.0, reason.to_string());
        let sequence = self.log(&LogEntry::SetAside {
            job: work.job.0,
            variant,
            packed,
            reason,
        })?;
        self.release(work);
        Ok(sequence)
    }
}
