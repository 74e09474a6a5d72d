//! Analyses: `/analyses`, told as they deepen.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_server::Analysis as _;
use serde::{Deserialize, Serialize};
use tokio_stream::StreamExt;
use tonic::{Request, Status};

use crate::error::ApiError;
use crate::extract::position::read as read_position;
use crate::handlers::books::read;
use crate::handlers::events::{reserve, told};
use crate::json::AnswerJson;
use crate::server::Client;
use crate::services::Services;
use crate::state::AppState;

/// How hard to think; whichever limit comes first.
#[derive(Debug, Deserialize)]
pub(crate) struct EffortJson {
    pub(crate) depth: Option<u32>,
    pub(crate) nodes: Option<u64>,
    pub(crate) time_ms: Option<u64>,
}

impl EffortJson {
    pub(crate) fn message(&self) -> v1::Effort {
        v1::Effort {
            depth: self.depth,
            nodes: self.nodes,
            time_ms: self.time_ms,
        }
    }
}

/// What to analyse.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionJson {
    variant: String,
    fen: Option<String>,
    #[serde(default)]
    moves: String,
    depth: Option<u32>,
    nodes: Option<u64>,
    time_ms: Option<u64>,
    #[serde(default = "five")]
    top: u32,
}

const fn five() -> u32 {
    5
}

/// What is known so far.
#[derive(Serialize)]
struct UpdateJson {
    #[serde(flatten)]
    answer: AnswerJson,
    /// Workers connected; 0 while the question waits for the first.
    workers: u32,
    /// Whether this is the answer.
    is_final: bool,
}

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
        effort: Some(
            EffortJson {
                depth: asked.depth,
                nodes: asked.nodes,
                time_ms: asked.time_ms,
            }
            .message(),
        ),
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
