use std::collections::BTreeSet;
use std::sync::Arc;

use kagetsu_game::{Key, Position, Question, Variant, is_printable_name};
use serde::{Deserialize, Serialize};

use super::build_fields::no_text;
use super::build_spec::BuildSpec;
use crate::base::id::Id;
use crate::error::spec_fault::{SpecFault, SpecFaults};

/// Names a job of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

/// The definition of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Its name in this book.
    pub name: String,
    /// The game and its rules.
    pub variant: Variant,
    /// The positions where it begins. They may be many, so all copies share them.
    pub roots: Arc<[Position]>,
    /// Positions that it never enters, by whatever moves.
    pub exclude: Arc<[Position]>,
    /// Its settings.
    pub build: BuildSpec,
}

impl JobSpec {
    /// The things in which two jobs differ, but for those that a running job may change. A mirror
    /// image of a root is the same root.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let keys = |positions: &[Position]| -> BTreeSet<Key> {
            positions.iter().map(Position::key).collect()
        };
        let parts = [
            (self.variant != other.variant, "--variant"),
            (keys(&self.roots) != keys(&other.roots), "the roots"),
            (keys(&self.exclude) != keys(&other.exclude), "--exclude"),
        ];
        let parts = parts.into_iter().filter(|(differs, _)| *differs);
        let names = parts.map(|(_, name)| name.to_string());
        names.chain(self.build.differences(&other.build)).collect()
    }

    /// Checks the job by itself, without the book that is to have it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn validate(&self) -> Result<(), SpecFaults> {
        let mut faults = Vec::new();
        let mut add = |field: &str, problem: String| faults.push(SpecFault::new(field, problem));
        if self.name.is_empty() {
            add("name", "a job needs a name".into());
        } else if !is_printable_name(&self.name) {
            add("name", no_text(Some(&self.name)));
        }
        if self.roots.is_empty() {
            add("roots", "a job needs a root".into());
        }
        for (field, positions) in [("roots", &self.roots), ("exclude", &self.exclude)] {
            let stranger = positions
                .iter()
                .find(|position| position.variant() != self.variant);
            if let Some(position) = stranger {
                let variant = self.variant;
                add(
                    field,
                    format!("all positions must be of one variant, {variant}, but not {position}"),
                );
            }
        }
        let excluded: BTreeSet<Key> = self.exclude.iter().map(Position::key).collect();
        let is_excluded = |root: &&Position| !excluded.is_empty() && excluded.contains(&root.key());
        if let Some(root) = self.roots.iter().find(is_excluded) {
            add(
                "exclude",
                format!(
                    "the root {root} is one of the positions that are never entered (--exclude)"
                ),
            );
        }
        if self.build.max_ply.is_some() && !self.variant.places_stones() {
            add(
                "max_ply",
                format!(
                    "{} does not tell from a position how many plies were played",
                    self.variant
                ),
            );
        }
        if let Err(more) = self.build.validate() {
            faults.extend(more.0);
        }
        SpecFaults::check(faults)
    }

    /// The same with [completed](BuildSpec::completed) settings.
    #[must_use]
    pub fn completed(&self) -> Self {
        Self {
            build: self.build.clone().completed(),
            ..self.clone()
        }
    }
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// Its positions are handed out.
    Running,
    /// It waits to be resumed.
    Paused,
    /// It has its positions, or nothing is left to search.
    Done,
    /// It was given up for good.
    Cancelled,
    /// It failed, for this reason.
    Failed(String),
}

impl std::fmt::Display for JobState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed(_) => "failed",
        })
    }
}

/// A job and its progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// Its definition.
    pub spec: JobSpec,
    /// Its state.
    pub state: JobState,
    /// Positions that it has added to the book.
    pub positions: u64,
    /// Positions set aside because they could not be searched.
    pub set_aside: u64,
    /// Positions that wait.
    pub frontier: u64,
    /// Positions visited in searching, since the job has a limit of them.
    pub nodes: u64,
}

impl Job {
    /// Number of positions after which it is done; `u64::MAX` for no end.
    #[must_use]
    pub fn target(&self) -> u64 {
        self.spec.build.positions.unwrap_or(u64::MAX)
    }

    /// Returns why it failed, or why it is done with fewer positions than it should have.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let build = &self.spec.build;
        let target = build.positions.filter(|target| self.positions < *target);
        let has_limit = build.total_nodes.is_some() || build.until_stable.is_some();
        match (&self.state, target) {
            (JobState::Failed(reason), _) => Some(reason.clone()),
            (JobState::Done, Some(target)) if self.frontier == 0 && !has_limit => Some(format!(
                "nothing is left to search after {} of {target} positions",
                self.positions
            )),
            _ => None,
        }
    }
}

/// A change of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobChange {
    /// No new work until it is resumed.
    Pause,
    /// Go on.
    Resume,
    /// Give it up; the book keeps what it has. A job that is done stays done.
    Cancel,
    /// It cannot go on, and why.
    Fail(String),
    /// Another number of positions to add; a job that was done goes on if it is greater.
    Target(u64),
    /// Skipped positions wait again; a finished job goes on.
    Retry,
    /// Changes the limits `total_nodes` and `until_stable`; a finished job goes on if they allow
    /// it.
    Limit(Option<u64>, Option<u64>),
    /// Changes the priority among the jobs of the book.
    Priority(i8),
    /// Ends the job although positions wait. A compacted journal says so of a job that had ended
    /// before they waited.
    Finish,
    /// Sets the number of added positions. A compacted journal says so if they cannot be counted.
    Count(u64),
}

/// A position that a job skips.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// Which, in canonical orientation.
    pub position: Position,
    /// The reason of the last failure.
    pub reason: String,
}

/// One position to search for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// For which job.
    pub job: JobId,
    /// The question to answer.
    pub question: Question,
    /// Its urgency in the job; less is sooner.
    pub priority: u64,
    /// The job's priority among others, when this was handed out.
    pub turn: i8,
    pub(crate) at: Id,
}
