//! Who works: `/workers`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use kagetsu_proto::v1;
use kagetsu_proto::v1::workers_server::Workers as _;
use serde::Serialize;
use tonic::Request;

use crate::error::ApiError;
use crate::extract::Params;
use crate::services::Services;
use crate::state::AppState;

/// A worker, in the words of every list of workers.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerJson {
    /// Its name.
    pub name: String,
    /// Its engine and version.
    pub engine: String,
    /// Tasks at the same time.
    pub slots: u32,
    /// Threads for each.
    pub threads: u32,
    /// Tasks in its hands.
    pub tasks: u32,
    /// Tasks that it has answered.
    pub done: u64,
    /// Positions a second.
    pub speed: u64,
    /// Why a slot is free, if one is.
    pub idle: Option<String>,
    /// Why neither it nor another of its name gets tasks until it is released; who failed in the exam may also be started anew.
    pub quarantine: Option<String>,
    /// Answers of it that others confirmed.
    pub confirmed: u64,
    /// Answers of it that were wrong.
    pub refuted: u64,
    /// Whether it is connected; one in quarantine may not be.
    pub is_connected: bool,
    /// The name of the token under which it came, where one is needed.
    pub token: Option<String>,
}

impl From<v1::Worker> for WorkerJson {
    fn from(worker: v1::Worker) -> Self {
        Self {
            name: worker.name,
            engine: worker.engine,
            slots: worker.slots,
            threads: worker.threads,
            tasks: worker.tasks,
            done: worker.done,
            speed: worker.speed,
            idle: (!worker.idle.is_empty()).then_some(worker.idle),
            quarantine: (!worker.quarantine.is_empty()).then_some(worker.quarantine),
            confirmed: worker.confirmed,
            refuted: worker.refuted,
            is_connected: !worker.is_absent,
            token: (!worker.token.is_empty()).then_some(worker.token),
        }
    }
}

/// `GET /api/v1/workers`.
pub(crate) async fn list<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(&[])?;
    let listed = app
        .services
        .workers()
        .list(Request::new(v1::ListWorkersRequest::default()))
        .await?
        .into_inner();
    let workers: Vec<WorkerJson> = listed.workers.into_iter().map(Into::into).collect();
    Ok(Json(workers).into_response())
}
