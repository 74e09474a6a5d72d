//! Build jobs: `/jobs`.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::{HistoryPoint, JobJson, PriorityJson, StartJson, describe_build};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use serde::Deserialize;
use serde_json::Value;
use tokio_stream::StreamExt;
use tonic::Request;

use crate::error::ApiError;
use crate::extract::{ApiPath, ApiQuery, Caller, NoParameters, position};
use crate::handlers::events::{EventJson, event, reserve};
use crate::server::ClientAddress;
use crate::state::AppState;

/// Lists the build jobs.
#[utoipa::path(
    get,
    operation_id = "list_jobs",
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
    operation_id = "get_job",
    path = "/api/v1/jobs/{name}",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn get(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiPath(name): ApiPath<String>,
) -> Result<Response, ApiError> {
    Ok(shown(
        app.services.builds().get(named(&caller, name)).await?,
    ))
}

/// Returns how a job has grown since the server started, oldest point first.
#[utoipa::path(
    get,
    operation_id = "job_history",
    path = "/api/v1/jobs/{name}/history",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The points", body = [HistoryPoint]), ApiError),
)]
pub(crate) async fn history(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiPath(name): ApiPath<String>,
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
    operation_id = "watch_job",
    path = "/api/v1/jobs/{name}/events",
    params(("name" = String, Path, description = "The job's name")),
    responses((status = 200, description = "The events", body = EventJson, content_type = "text/event-stream"), ApiError),
)]
pub(crate) async fn events(
    State(app): State<Arc<AppState>>,
    client: Option<Extension<ClientAddress>>,
    caller: Caller,
    ApiPath(name): ApiPath<String>,
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

/// Reads the request that starts a build.
fn start_request(start: StartJson) -> Result<v1::StartRequest, ApiError> {
    if start.name.is_empty() {
        return Err(ApiError::bad_request("name: a job needs a name"));
    }
    let fen = start.fen.as_deref();
    let read = |line: &String| position::parse(&start.variant, fen, line);
    let start_line = vec![String::new()];
    let lines = if start.roots.is_empty() {
        &start_line
    } else {
        &start.roots
    };
    let mut roots: Vec<Position> = lines.iter().map(read).collect::<Result<_, _>>()?;
    for line in &start.cover {
        let end = read(line)?;
        for on_line in (1..=end.moves().len()).map(|plies| end.prefix(plies)) {
            if !roots.contains(&on_line) {
                roots.push(on_line);
            }
        }
    }
    let exclude: Vec<Position> = start.exclude.iter().map(read).collect::<Result<_, _>>()?;
    if let Some(over) = roots.iter().find(|root| root.outcome().is_some()) {
        return Err(ApiError::bad_request(format!(
            "the game is over in the root {over}: there is nothing to search"
        )));
    }
    Ok(v1::StartRequest {
        name: start.name,
        roots: roots.iter().map(Into::into).collect(),
        exclude: exclude.iter().map(Into::into).collect(),
        settings: Value::Object(start.build).to_string(),
    })
}

/// Describes the growth policies and every setting of a build: type, range, default and meaning.
#[utoipa::path(
    get,
    path = "/api/v1/build-settings",
    responses((status = 200, description = "The policies and the settings", body = Object)),
)]
pub(crate) async fn build_settings() -> Response {
    Json(describe_build()).into_response()
}

/// Starts a build, or resumes the one of this name.
#[utoipa::path(
    post,
    operation_id = "start_job",
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
    let request = start_request(start)?;
    let job = app.services.builds().start(caller.request(request)).await?;
    Ok((StatusCode::CREATED, shown(job)).into_response())
}

/// A change of a job, as its path names it.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    Pause,
    Resume,
    Cancel,
}

/// Pauses a job, which then starts no new searches; resumes it; or cancels it, and the book keeps
/// what it has.
#[utoipa::path(
    post,
    operation_id = "change_job",
    path = "/api/v1/jobs/{name}/{change}",
    params(
        ("name" = String, Path, description = "The job's name"),
        ("change" = inline(Change), Path, description = "What happens to it"),
    ),
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn change(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiPath((name, change)): ApiPath<(String, Change)>,
) -> Result<Response, ApiError> {
    let (mut builds, request) = (app.services.builds(), named(&caller, name));
    let changed = match change {
        Change::Pause => builds.pause(request).await,
        Change::Resume => builds.resume(request).await,
        Change::Cancel => builds.cancel(request).await,
    };
    Ok(shown(changed?))
}

/// Changes the priority of a job among the others.
#[utoipa::path(
    post,
    operation_id = "prioritize_job",
    path = "/api/v1/jobs/{name}/priority",
    params(("name" = String, Path, description = "The job's name")),
    request_body = PriorityJson,
    responses((status = 200, description = "The job", body = JobJson), ApiError),
)]
pub(crate) async fn prioritize(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiPath(name): ApiPath<String>,
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
