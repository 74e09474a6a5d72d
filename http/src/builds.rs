//! Build jobs: `/jobs`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use kagetsu_book::{Aside, Job};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use kagetsu_proto::v1::builds_server::Builds as _;
use serde::{Deserialize, Serialize};
use tokio_stream::StreamExt;
use tonic::Request;

use crate::analyses::{EffortJson, told};
use crate::params::Params;
use crate::place;
use crate::refusal::Refusal;
use crate::routes::Door;
use crate::services::Services;

/// A job, in the words of every list of jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobJson {
    /// Its name in the book.
    pub name: String,
    /// What is played.
    pub variant: String,
    /// `running`, `paused`, `done`, `cancelled` or `failed`.
    pub state: String,
    /// Positions that it has added.
    pub positions: u64,
    /// How many it is to add, if there is an end.
    pub target: Option<u64>,
    /// Positions a second, of late.
    pub rate: f64,
    /// Positions that wait.
    pub frontier: u64,
    /// Positions that could not be searched.
    pub set_aside: u64,
    /// Why it failed.
    pub reason: Option<String>,
    /// The first positions that could not be searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<AsideJson>,
}

/// A position that a job goes on without.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AsideJson {
    /// Variant and moves, or the stones, for people.
    pub position: String,
    /// What went wrong the last time.
    pub reason: String,
}

impl From<&Aside> for AsideJson {
    fn from(aside: &Aside) -> Self {
        Self { position: aside.position.to_string(), reason: aside.reason.clone() }
    }
}

/// A later coordinator may have positions that this program does not know.
fn aside(aside: &v1::Aside) -> Option<AsideJson> {
    let position = Position::try_from(aside.position.as_ref()?).ok()?;
    Some(AsideJson { position: position.to_string(), reason: aside.reason.clone() })
}

impl From<&v1::Job> for JobJson {
    fn from(job: &v1::Job) -> Self {
        Self {
            name: job.name.clone(),
            variant: job.variant.clone(),
            state: state(job.state()).into(),
            positions: job.positions,
            target: job.target,
            rate: (job.rate * 100.0).round() / 100.0,
            frontier: job.frontier,
            set_aside: job.set_aside,
            reason: (!job.reason.is_empty()).then(|| job.reason.clone()),
            asides: job.asides.iter().filter_map(aside).collect(),
        }
    }
}

impl From<&Job> for JobJson {
    /// Nobody works on the job of a book in its folder: its rate is 0.
    fn from(job: &Job) -> Self {
        let reason = match &job.state {
            kagetsu_book::JobState::Failed(reason) => Some(reason.clone()),
            _ => None,
        };
        Self {
            name: job.spec.name.clone(),
            variant: job.spec.variant.to_string(),
            state: job.state.to_string(),
            positions: job.positions,
            target: (job.spec.target != u64::MAX).then_some(job.spec.target),
            rate: 0.0,
            frontier: job.frontier,
            set_aside: job.set_aside,
            reason,
            asides: Vec::new(),
        }
    }
}

/// The word for a state.
#[must_use]
pub fn state(state: v1::JobState) -> &'static str {
    match state {
        v1::JobState::Unspecified => "unknown",
        v1::JobState::Running => "running",
        v1::JobState::Paused => "paused",
        v1::JobState::Done => "done",
        v1::JobState::Cancelled => "cancelled",
        v1::JobState::Failed => "failed",
    }
}

/// `GET /api/v1/jobs`.
pub(crate) async fn list<S: Services>(State(door): State<Arc<Door<S>>>, params: Params) -> Result<Response, Refusal> {
    params.only(&[])?;
    if door.services.epoch().is_none() {
        return Ok(Json(Vec::<JobJson>::new()).into_response());
    }
    let listed = door.services.builds().list(Request::new(v1::ListJobsRequest {})).await?.into_inner();
    let jobs: Vec<JobJson> = listed.jobs.iter().map(Into::into).collect();
    Ok(Json(jobs).into_response())
}

fn named(name: String) -> Request<v1::JobName> {
    Request::new(v1::JobName { name })
}

fn shown(job: tonic::Response<v1::Job>) -> Response {
    Json(JobJson::from(&job.into_inner())).into_response()
}

/// `GET /api/v1/jobs/{name}`.
pub(crate) async fn get<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    Ok(shown(door.services.builds().get(named(name)).await?))
}

/// `GET /api/v1/jobs/{name}/history`.
pub(crate) async fn history<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    door.services.builds().get(named(name.clone())).await?;
    Ok(Json(door.history.of(&name)).into_response())
}

/// `GET /api/v1/jobs/{name}/events`: the job, now and whenever it has moved on.
pub(crate) async fn events<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let place = door.place_of_a_listener()?;
    let jobs = door.services.builds().watch(named(name)).await?.into_inner();
    let events = jobs.map(move |job| {
        let _place = &place;
        told("job", job.map(|job| JobJson::from(&job)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// What a build is made of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartJson {
    name: String,
    variant: String,
    /// Lines; none: the start.
    #[serde(default)]
    roots: Vec<String>,
    fen: Option<String>,
    positions: Option<u64>,
    max_ply: Option<u32>,
    #[serde(default = "one")]
    alpha: f64,
    #[serde(default = "three")]
    top: u32,
    #[serde(default)]
    split: bool,
    depth: Option<u32>,
    nodes: Option<u64>,
    time_ms: Option<u64>,
}

const fn one() -> f64 {
    1.0
}

const fn three() -> u32 {
    3
}

/// Plies of each search where no effort is given.
const DEPTH: u32 = 6;

/// `POST /api/v1/jobs`: starts a job, or resumes the one of this name.
pub(crate) async fn start<S: Services>(
    State(door): State<Arc<Door<S>>>,
    body: Result<Json<StartJson>, JsonRejection>,
) -> Result<Response, Refusal> {
    let Json(start) = body?;
    if start.name.is_empty() {
        return Err(Refusal::wrong("name: a job needs a name"));
    }
    let fen = start.fen.as_deref();
    let lines = if start.roots.is_empty() { vec![String::new()] } else { start.roots };
    let roots: Result<Vec<_>, _> = lines.iter().map(|line| place::read(&start.variant, fen, line)).collect();
    let roots = roots?;
    if let Some(over) = roots.iter().find(|root| root.outcome().is_some()) {
        return Err(Refusal::wrong(format!("the game is over in the root {over}: there is nothing to search")));
    }
    let mut effort = EffortJson { depth: start.depth, nodes: start.nodes, time_ms: start.time_ms }.message();
    if effort == v1::Effort::default() {
        effort.depth = Some(DEPTH);
    }
    let request = v1::StartRequest {
        name: start.name,
        roots: roots.iter().map(Into::into).collect(),
        alpha: start.alpha,
        effort: Some(effort),
        width: start.top,
        max_ply: start.max_ply,
        target: start.positions,
        split: start.split,
        ..v1::StartRequest::default()
    };
    let job = door.services.builds().start(Request::new(request)).await?;
    Ok((StatusCode::CREATED, shown(job)).into_response())
}

/// `POST /api/v1/jobs/{name}/pause`.
pub(crate) async fn pause<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    Ok(shown(door.services.builds().pause(named(name)).await?))
}

/// `POST /api/v1/jobs/{name}/resume`.
pub(crate) async fn resume<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    Ok(shown(door.services.builds().resume(named(name)).await?))
}

/// `POST /api/v1/jobs/{name}/cancel`.
pub(crate) async fn cancel<S: Services>(
    State(door): State<Arc<Door<S>>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    Ok(shown(door.services.builds().cancel(named(name)).await?))
}

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), "bad_body", rejection.body_text())
    }
}

/// An event without an answer must not be lost: it ends the stream, and says why.
pub(crate) fn refused(refusal: &Refusal) -> Event {
    let body = serde_json::json!({"error": {"code": refusal.code, "message": refusal.message}});
    Event::default().event("error").data(body.to_string())
}
