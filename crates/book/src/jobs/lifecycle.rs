//! How jobs are made, changed and listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::book::Book;
use crate::error::{BookError, JobError};
use crate::journal::entry::{JobEntry, LogEntry};
use crate::journal::log::Sequence;
use crate::settings::job::{Job, JobChange, JobId, JobSpec, JobState};

/// Number of known positions that a job walks on from in one entry of the journal.
const STEPS_PER_WALK: u32 = 64;

impl Book {
    /// Makes a job.
    ///
    /// # Errors
    /// If its settings are wrong, or the name is taken.
    pub fn create_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        spec.validate()?;
        if self.job_named(&spec.name).is_some() {
            return Err(JobError::Exists(spec.name.clone()).into());
        }
        let id = u32::try_from(self.jobs.specs.len()).map_err(|_| JobError::TooMany)?;
        let spec = spec.completed();
        self.frontiers.begin(id);
        self.log(&LogEntry::Job(JobEntry::from(&spec)))?;
        self.read_spec(JobId(id))?;
        self.apply_limits(JobId(id), &spec)?;
        self.walk_on()?;
        Ok(JobId(id))
    }

    /// Makes a job, or resumes the one of this name if it has the same settings. The settings that
    /// a running job may change become those of `spec`.
    ///
    /// # Errors
    /// If the settings are wrong, or the job of this name has others or is cancelled.
    pub fn start_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        let Some(id) = self.job_named(&spec.name) else {
            return self.create_job(spec);
        };
        spec.validate()?;
        let spec = spec.completed();
        let job = self.job(id)?;
        if job.state == JobState::Cancelled {
            return Err(JobError::Cancelled(job.spec.name).into());
        }
        let differences = spec.differences(&job.spec);
        if !differences.is_empty() {
            let name = spec.name;
            return Err(JobError::Differs { name, differences }.into());
        }
        // A job that deepens may have more to do than when it was done.
        let is_reopened = job.state == JobState::Done && spec.build.deepen.is_some();
        if job.spec.build.positions != spec.build.positions || is_reopened {
            let target = spec.build.positions.unwrap_or(u64::MAX);
            self.change_job(job.id, JobChange::Target(target))?;
        }
        self.apply_limits(job.id, &spec)?;
        self.change_job(job.id, JobChange::Resume)?;
        Ok(job.id)
    }

    /// Gives a job the limits and the priority of `spec` where they differ.
    fn apply_limits(&mut self, id: JobId, spec: &JobSpec) -> Result<(), BookError> {
        let known = self.index().account(id.0)?;
        let (nodes, stable) = (spec.build.total_nodes, spec.build.until_stable);
        if (known.most_nodes, known.stretch) != (nodes, stable) {
            self.log(&LogEntry::Change(id.0, JobChange::Limit(nodes, stable)))?;
        }
        let priority = spec.build.priority;
        if known.priority != priority {
            self.log(&LogEntry::Change(id.0, JobChange::Priority(priority)))?;
        }
        Ok(())
    }

    /// Reads what all jobs were made with.
    pub(crate) fn read_specs(&mut self) -> Result<(), BookError> {
        for (id, _) in self.index().jobs()? {
            self.read_spec(JobId(id))?;
        }
        Ok(())
    }

    fn read_spec(&mut self, id: JobId) -> Result<(), BookError> {
        let spec = self.index().spec(id.0)?;
        Arc::make_mut(&mut self.jobs.specs).insert(id, spec);
        Ok(())
    }

    /// Changes how a job stands. A job that is done stays done when it is cancelled.
    ///
    /// # Errors
    /// If there is no such job, it is cancelled and should go on, or the disk fails.
    pub fn change_job(&mut self, id: JobId, change: JobChange) -> Result<Sequence, BookError> {
        let job = self.job(id)?;
        if job.state == JobState::Cancelled
            && matches!(change, JobChange::Resume | JobChange::Retry)
        {
            return Err(JobError::Cancelled(job.spec.name).into());
        }
        if job.state == JobState::Done && change == JobChange::Cancel {
            return Ok(self.sequence());
        }
        self.log_change(id, change)
    }

    /// Writes a change of a job into the journal, whatever state the job is in.
    pub(crate) fn log_change(
        &mut self,
        id: JobId,
        change: JobChange,
    ) -> Result<Sequence, BookError> {
        self.job(id)?;
        self.log(&LogEntry::Change(id.0, change))
    }

    /// Returns all jobs, in the order in which they were made.
    ///
    /// # Errors
    /// A damaged store.
    pub fn jobs(&self) -> Result<Vec<Job>, BookError> {
        let numbers = self.index().jobs()?;
        numbers
            .into_iter()
            .map(|(id, _)| self.job(JobId(id)))
            .collect()
    }

    /// Returns the job of a name.
    #[must_use]
    pub fn job_named(&self, name: &str) -> Option<JobId> {
        self.jobs.named(name)
    }

    /// Returns the jobs that may have changed since the last call; the first call names those that
    /// may have changed since the book was opened.
    pub fn changed_jobs(&mut self) -> BTreeSet<JobId> {
        std::mem::take(&mut self.jobs.changed)
    }

    /// Returns one job.
    ///
    /// # Errors
    /// If there is no such job.
    pub fn job(&self, id: JobId) -> Result<Job, BookError> {
        let mut spec = self.jobs.spec(id)?.clone();
        let body = self.index().job(id.0)?.clone();
        let account = self.index().account(id.0)?;
        spec.build.positions = (body.target != u64::MAX).then_some(body.target);
        spec.build.total_nodes = account.most_nodes;
        spec.build.until_stable = account.stretch;
        spec.build.priority = account.priority;
        Ok(Job {
            id,
            spec,
            state: body.state,
            positions: body.positions,
            set_aside: body.set_aside,
            frontier: body.frontier,
            nodes: account.nodes,
        })
    }

    /// Lets jobs walk on from the known positions that they have come to: a few steps each, and as
    /// many as it takes where no position waits, so that a job is never idle while it has somewhere
    /// to go.
    pub(crate) fn walk_on(&mut self) -> Result<(), BookError> {
        if self.marker.walking == 0 {
            return Ok(());
        }
        for (job, state) in self.index().jobs()? {
            let mut left = Some(state);
            while let Some(state) = left.filter(|state| state.walking > 0) {
                self.walk(job)?;
                left = if state.frontier == 0 {
                    Some(self.index().job(job)?.clone())
                } else {
                    None
                };
            }
        }
        Ok(())
    }

    /// Lets a job walk on from all known positions that it has come to.
    pub(crate) fn walk_to_the_end(&mut self, job: JobId) -> Result<(), BookError> {
        while self.index().job(job.0)?.walking > 0 {
            self.walk(job.0)?;
        }
        Ok(())
    }

    fn walk(&mut self, job: u32) -> Result<Sequence, BookError> {
        let steps = STEPS_PER_WALK;
        self.log(&LogEntry::Walk { job, steps })
    }
}
