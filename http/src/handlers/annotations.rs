//! Annotations, written and taken back.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use kagetsu_api::{AnnotationJson, AnnotationsJson};
use kagetsu_proto::v1;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::position::parse;
use crate::state::AppState;

/// Annotations of a position to write and to take back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WrittenAnnotations)]
pub(crate) struct WrittenJson {
    /// The game, as in freestyle-15.
    variant: String,
    /// Moves from the start or from `fen`.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// Annotations to write; one without a date is of today.
    #[serde(default)]
    written: Vec<AnnotationJson>,
    /// Annotations to take back.
    #[serde(default)]
    taken_back: Vec<AnnotationJson>,
}

/// Writes annotations of a position, and takes others back. Returns all of the position.
#[utoipa::path(
    post,
    path = "/api/v1/annotations",
    request_body = WrittenJson,
    responses((status = 200, description = "All annotations of the position", body = AnnotationsJson), ApiError),
)]
pub(crate) async fn write(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    body: Result<Json<WrittenJson>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(request) = body?;
    let position = parse(&request.variant, request.fen.as_deref(), &request.moves)?;
    let lists = [request.written, request.taken_back];
    let [written, taken_back] =
        lists.map(|annotations| serde_json::to_string(&AnnotationsJson { annotations }));
    let request = caller.request(v1::AnnotateRequest {
        position: Some((&position).into()),
        written: written.unwrap_or_default(),
        taken_back: taken_back.unwrap_or_default(),
    });
    let json = app.services.books().annotate(request).await?;
    let json = json.into_inner().json;
    Ok(([(CONTENT_TYPE, "application/json")], Body::from(json)).into_response())
}
