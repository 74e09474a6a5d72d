//! Build jobs: `/jobs`.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::{EffortJson, HistoryPoint, JobJson, PriorityJson, day};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use serde::Deserialize;
use tokio_stream::StreamExt;
use tonic::Request;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{ApiQuery, Caller, NoParameters, position};
use crate::handlers::events::{event, reserve};
use crate::server::ClientAddress;
use crate::state::AppState;

/// Lists the build jobs.
#[utoipa::path(
    get,
    path = "/api/v1/jobs",
    responses((status = 200, description = "The jobs", body = [JobJson]), ApiError),
)]
pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    _: ApiQuery<NoParameters>,
) -> Result<Response, ApiError> {
    if !app.has_jobs() {
        return Ok(Json(Vec::<JobJson>::new()).into_response());
    }
    let listed = app
        .services
        .builds()
        .list(caller.request(v1::ListJobsRequest {}))
        .await?
        .into_inner();
    let jobs: Vec<JobJson> = listed.jobs.iter().map(Into::into).collect();
    Ok(Json(jobs).into_response())
}

fn named(caller: &Caller, name: String) -> Request<v1::JobName> {
    caller.request(v1::JobName { name })
}

fn shown(job: tonic::Response<v1::Job>) -> Response {
    Json(JobJson::from(&job.into_inner())).into_response()
}

/// Describes one job, with its settings.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{name}",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn get(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    Ok(shown(
        app.services.builds().get(named(&caller, name)).await?,
    ))
}

/// Returns how a job has grown since the server started, oldest point first.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{name}/history",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The points", body = [HistoryPoint]), ApiError),
)]
pub(crate) async fn history(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    app.services
        .builds()
        .get(named(&caller, name.clone()))
        .await?;
    Ok(Json(app.history.of(&name)).into_response())
}

/// Follows a job.
///
/// Server-sent events: `job` with the job, now and after each change, until it is over; `error` at
/// an early end.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{name}/events",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The events", body = JobJson, content_type = "text/event-stream"), ApiError),
)]
pub(crate) async fn events(
    State(app): State<Arc<AppState>>,
    client: Option<Extension<ClientAddress>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let reserved = reserve(&app.listeners, client, "streams of events")?;
    let jobs = app
        .services
        .builds()
        .watch(named(&caller, name))
        .await?
        .into_inner();
    let events = jobs.map(move |job| {
        let _reserved = &reserved;
        event("job", job.map(|job| JobJson::from(&job)))
    });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response())
}

/// What a build is made of.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Start)]
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
    #[serde(default)]
    policy: PolicyJson,
    #[serde(default)]
    side: SideJson,
    /// Centi-units.
    margin: Option<u32>,
    #[serde(default)]
    noise: f64,
    #[serde(default)]
    seed: u64,
    /// Lines to positions that are never entered.
    #[serde(default)]
    exclude: Vec<String>,
    /// Lines of which every position is a root.
    #[serde(default)]
    cover: Vec<String>,
    deepen: Option<DeepenJson>,
    total_nodes: Option<u64>,
    until_stable: Option<u64>,
    #[serde(default)]
    priority: i32,
}

/// Which position comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum PolicyJson {
    #[default]
    DropOut,
    OneSide,
    Prove,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum SideJson {
    #[default]
    First,
    Second,
}

/// What is searched anew.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct DeepenJson {
    depth: u32,
    nodes: u64,
    /// As 2026-11-21.
    before: Option<String>,
    engine: String,
}

impl DeepenJson {
    fn message(self) -> Result<v1::Deepen, ApiError> {
        let day = match &self.before {
            Some(text) => day(text).ok_or_else(|| {
                ApiError::bad_request(format!("deepen.before: {text} is no day as 2026-11-21"))
            })?,
            None => 0,
        };
        Ok(v1::Deepen {
            depth: self.depth,
            nodes: self.nodes,
            day,
            engine: self.engine,
        })
    }
}

const fn one() -> f64 {
    1.0
}

const fn three() -> u32 {
    3
}

/// Plies of each search where no effort is given.
const DEPTH: u32 = 6;

/// Positions of each search for threats where no effort is given.
const THREATS: u64 = 20_000;

/// Centi-units that a move of the other side may lose with `one-side`, where that is not said.
const MARGIN: u32 = 100;

/// Starts a build, or resumes the one of this name.
#[utoipa::path(
    post,
    path = "/api/v1/jobs",
    request_body = StartJson,
    responses((status = 201, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn start(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    body: Result<Json<StartJson>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(start) = body?;
    if start.name.is_empty() {
        return Err(ApiError::bad_request("name: a job needs a name"));
    }
    let fen = start.fen.as_deref();
    let lines = if start.roots.is_empty() {
        vec![String::new()]
    } else {
        start.roots.clone()
    };
    let roots: Result<Vec<_>, _> = lines
        .iter()
        .map(|line| position::parse(&start.variant, fen, line))
        .collect();
    let mut roots = roots?;
    let read = |line: &String| position::parse(&start.variant, fen, line);
    for line in &start.cover {
        let end = read(line)?;
        for plies in 1..=end.moves().len() {
            let on_it = Position::new(end.variant(), end.setup().cloned(), &end.moves()[..plies]);
            let on_it = on_it.map_err(|error| ApiError::bad_request(error.to_string()))?;
            if !roots.contains(&on_it) {
                roots.push(on_it);
            }
        }
    }
    let exclude: Vec<Position> = start.exclude.iter().map(read).collect::<Result<_, _>>()?;
    if let Some(over) = roots.iter().find(|root| root.outcome().is_some()) {
        return Err(ApiError::bad_request(format!(
            "the game is over in the root {over}: there is nothing to search"
        )));
    }
    let mut effort: v1::Effort = EffortJson {
        depth: start.depth,
        nodes: start.nodes,
        time_ms: start.time_ms,
    }
    .into();
    if effort == v1::Effort::default() {
        match start.policy {
            PolicyJson::DropOut | PolicyJson::OneSide => effort.depth = Some(DEPTH),
            PolicyJson::Prove => effort.nodes = Some(THREATS),
        }
    }
    let margin = start
        .margin
        .or((start.policy == PolicyJson::OneSide).then_some(MARGIN));
    let request = v1::StartRequest {
        name: start.name,
        roots: roots.iter().map(Into::into).collect(),
        alpha: start.alpha,
        effort: Some(effort),
        width: start.top,
        max_ply: start.max_ply,
        target: start.positions,
        split: start.split,
        policy: match start.policy {
            PolicyJson::DropOut => v1::Policy::DropOut,
            PolicyJson::OneSide => v1::Policy::OneSide,
            PolicyJson::Prove => v1::Policy::Prove,
        }
        .into(),
        side: match start.side {
            SideJson::First => v1::Side::First,
            SideJson::Second => v1::Side::Second,
        }
        .into(),
        margin,
        noise: start.noise,
        seed: start.seed,
        exclude: exclude.iter().map(Into::into).collect(),
        deepen: start.deepen.map(DeepenJson::message).transpose()?,
        total_nodes: start.total_nodes,
        until_stable: start.until_stable,
        priority: start.priority,
    };
    let job = app.services.builds().start(caller.request(request)).await?;
    Ok((StatusCode::CREATED, shown(job)).into_response())
}

/// Pauses a job: it starts no new searches until it is resumed.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{name}/pause",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn pause(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    Ok(shown(
        app.services.builds().pause(named(&caller, name)).await?,
    ))
}

/// Resumes a paused job.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{name}/resume",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn resume(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    Ok(shown(
        app.services.builds().resume(named(&caller, name)).await?,
    ))
}

/// Changes the priority of a job among the others.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{name}/priority",
    params(("name" = String, Path, description = "The job's name")),
    request_body = PriorityJson,
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn prioritize(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<PriorityJson>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(PriorityJson { priority }) = body?;
    Ok(shown(
        app.services
            .builds()
            .prioritize(caller.request(v1::PrioritizeRequest { name, priority }))
            .await?,
    ))
}

/// Cancels a job; the book keeps what it has.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{name}/cancel",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn cancel(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    Ok(shown(
        app.services.builds().cancel(named(&caller, name)).await?,
    ))
}
