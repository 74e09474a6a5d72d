use std::time::Duration;

use kagetsu_book::{Aside, Job, JobState};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use serde::{Deserialize, Serialize};

use crate::settings::SettingsJson;

/// A build job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Job))]
pub struct JobJson {
    /// Its name in the book.
    pub name: String,
    /// The game.
    pub variant: String,
    /// `running`, `paused`, `done`, `cancelled` or `failed`.
    pub state: String,
    /// Positions that it has added.
    pub positions: u64,
    /// The number of positions at which it ends; null without an end.
    pub target: Option<u64>,
    /// Positions added a second, recently.
    pub rate: f64,
    /// Positions that wait for a search.
    pub frontier: u64,
    /// Positions that could not be searched.
    pub set_aside: u64,
    /// Why it failed, or why it is done without its target.
    pub reason: Option<String>,
    /// Jobs with a greater priority go first.
    pub priority: i32,
    /// Nodes that its searches have visited; counted only with `total_nodes`.
    #[serde(skip_serializing_if = "is_zero")]
    pub nodes: u64,
    /// The number of nodes at which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_nodes: Option<u64>,
    /// It ends after this many positions in a row that change nothing at the roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_stable: Option<u64>,
    /// The reason why no worker can work on a running job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// The first positions that could not be searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<AsideJson>,
    /// The settings that it was started with; only in the answer about one job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsJson>,
}

impl JobJson {
    /// Returns about how long the job takes to its target; `None` where this is unknown or over.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.target?.saturating_sub(self.positions);
        (left > 0 && self.rate > 0.0).then(|| Duration::from_secs((left as f64 / self.rate) as u64))
    }
}

fn is_zero(nodes: &u64) -> bool {
    *nodes == 0
}

/// A position that a job has set aside because its searches failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Aside))]
pub struct AsideJson {
    /// The variant and the moves, or the stones, as text for people.
    pub position: String,
    /// Why the last search failed.
    pub reason: String,
}

impl From<&Aside> for AsideJson {
    fn from(aside: &Aside) -> Self {
        Self {
            position: aside.position.to_string(),
            reason: aside.reason.clone(),
        }
    }
}

/// A position that this program cannot read, as from a newer coordinator, gives `None`.
fn aside(aside: &v1::Aside) -> Option<AsideJson> {
    let position = Position::try_from(aside.position.as_ref()?).ok()?;
    Some(AsideJson {
        position: position.to_string(),
        reason: aside.reason.clone(),
    })
}

impl From<&v1::Job> for JobJson {
    fn from(job: &v1::Job) -> Self {
        Self {
            name: job.name.clone(),
            variant: job.variant.clone(),
            state: state_name(job.state()),
            positions: job.positions,
            target: job.target,
            rate: (job.rate * 100.0).round() / 100.0,
            frontier: job.frontier,
            set_aside: job.set_aside,
            reason: (!job.reason.is_empty()).then(|| job.reason.clone()),
            priority: job.priority,
            nodes: job.nodes,
            total_nodes: job.total_nodes,
            until_stable: job.until_stable,
            waits_for: (!job.waits_for.is_empty()).then(|| job.waits_for.clone()),
            asides: job.asides.iter().filter_map(aside).collect(),
            settings: job.settings.as_ref().map(Into::into),
        }
    }
}

impl From<&Job> for JobJson {
    /// A job read from a folder is not running, so its rate is 0.
    fn from(job: &Job) -> Self {
        Self::from(&job_message(job))
    }
}

/// Returns a job as a message, without what its coordinator alone knows.
#[must_use]
pub fn job_message(job: &Job) -> v1::Job {
    let state = match job.state {
        JobState::Running => v1::JobState::Running,
        JobState::Paused => v1::JobState::Paused,
        JobState::Done => v1::JobState::Done,
        JobState::Cancelled => v1::JobState::Cancelled,
        JobState::Failed(_) => v1::JobState::Failed,
    };
    v1::Job {
        name: job.spec.name.clone(),
        variant: job.spec.variant.to_string(),
        state: state.into(),
        positions: job.positions,
        target: job.spec.build.positions,
        frontier: job.frontier,
        set_aside: job.set_aside,
        reason: job.reason().unwrap_or_default(),
        priority: job.spec.build.priority.into(),
        nodes: job.nodes,
        total_nodes: job.spec.build.total_nodes,
        until_stable: job.spec.build.until_stable,
        ..v1::Job::default()
    }
}

/// Returns the name of a state, as in `running`.
fn state_name(state: v1::JobState) -> String {
    let name = state.as_str_name().trim_start_matches("JOB_STATE_");
    name.to_ascii_lowercase()
}

/// A point of a job's history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Point))]
pub struct HistoryPoint {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Positions added until then.
    pub positions: u64,
    /// Positions that waited then.
    pub frontier: u64,
}

/// The new priority of a job.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Priority))]
pub struct PriorityJson {
    /// Jobs with a greater priority go first; from -100 to 100.
    #[cfg_attr(feature = "openapi", schema(minimum = -100, maximum = 100))]
    pub priority: i32,
}
