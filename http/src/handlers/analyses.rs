//! Analyses as streams of events: `/analyses`.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::{AnswerJson, QuestionJson, UpdateJson};
use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1;
use tokio_stream::StreamExt;
use tonic::Status;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::extract::position::parse;
use crate::handlers::events::{EventJson, event, reserve};
use crate::server::ClientAddress;
use crate::state::AppState;

/// Analyses a position.
///
/// Server-sent events: `answer` as the analysis deepens, the last with `is_final`; `error` at an
/// early end. The analysis ends when the client disconnects.
#[utoipa::path(
    post,
    path = "/api/v1/analyses",
    request_body = QuestionJson,
    responses((status = 200, description = "The events", body = EventJson, content_type = "text/event-stream"), ApiError),
)]
pub(crate) async fn analyze(
    State(app): State<Arc<AppState>>,
    client: Option<Extension<ClientAddress>>,
    caller: Caller,
    body: Result<Json<QuestionJson>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(request) = body?;
    let reserved = reserve(&app.analyses, client, "analyses")?;
    let position = parse(&request.variant, request.fen.as_deref(), &request.moves)?;
    if position.outcome().is_some() {
        let message = format!("the game is over in {position}: there is nothing to search");
        return Err(ApiError::bad_request(message));
    }
    let question = v1::Question {
        position: Some((&position).into()),
        effort: Some(v1::Effort {
            depth: request.depth,
            nodes: request.nodes,
            time_ms: request.time_ms,
        }),
        width: request.top,
        ..v1::Question::default()
    };
    let request = caller.request(v1::AnalyzeRequest {
        question: Some(question),
        split: v1::Split::Unspecified.into(),
        keep: false,
    });
    let updates = app.services.analysis().analyze(request).await?.into_inner();
    let events = updates.map(move |result| {
        let _reserved = &reserved;
        event(
            "answer",
            result.and_then(|update| to_json(&position, &update)),
        )
    });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response())
}

fn to_json(position: &Position, update: &v1::AnalyzeUpdate) -> Result<UpdateJson, Status> {
    let answer = update.answer.as_ref().map(Answer::try_from).transpose();
    let answer = answer.map_err(|error| Status::internal(error.to_string()))?;
    let answer = AnswerJson::new(position, &answer.unwrap_or_default(), update.time_ms);
    Ok(UpdateJson {
        answer: answer.with_nodes(update.nodes),
        workers: update.workers,
        is_final: update.is_final,
    })
}
