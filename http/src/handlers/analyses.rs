//! Analyses: `/analyses`, told as they deepen.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_api::{AnswerJson, QuestionJson, UpdateJson};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_server::Analysis as _;
use tokio_stream::StreamExt;
use tonic::{Request, Status};

use crate::error::ApiError;
use crate::extract::position::read as read_position;
use crate::handlers::books::read;
use crate::handlers::events::{reserve, told};
use crate::server::Client;
use crate::services::Services;
use crate::state::AppState;

/// `POST /api/v1/analyses`: events `answer` as the answer grows, the last with `is_final`. Ends when the client goes away.
pub(crate) async fn analyze<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    client: Option<Extension<Client>>,
    body: Result<Json<QuestionJson>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(asked) = body?;
    let reserved = reserve(&app.analyses, client, "analyses")?;
    let position = read_position(&asked.variant, asked.fen.as_deref(), &asked.moves)?;
    if position.outcome().is_some() {
        return Err(ApiError::wrong(format!(
            "the game is over in {position}: there is nothing to search"
        )));
    }
    let question = v1::Question {
        position: Some((&position).into()),
        effort: Some(asked.effort().into()),
        width: asked.top,
        ..v1::Question::default()
    };
    let request = v1::AnalyzeRequest {
        question: Some(question),
        split: v1::Split::Unspecified.into(),
        keep: false,
    };
    let updates = app
        .services
        .analysis()
        .analyze(Request::new(request))
        .await?
        .into_inner();
    let events = updates.map(move |update| {
        let _reserved = &reserved;
        let json = update.and_then(|update| {
            let answer = read(update.answer.as_ref())
                .map_err(|refusal| Status::internal(refusal.message))?;
            let answer = AnswerJson::new(&position, &answer.unwrap_or_default(), update.time_ms);
            let answer = answer.with_nodes(update.nodes);
            Ok(UpdateJson {
                answer,
                workers: update.workers,
                is_final: update.is_final,
            })
        });
        told("answer", json)
    });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response())
}
