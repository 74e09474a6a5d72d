//! Reading the book: `/book`, `/pick`, `/position`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use kagetsu_api::{AnswerJson, ForbiddenJson, PickJson, PositionJson, ValueJson};
use kagetsu_game::{Answer, Move, Outcome, Position};
use kagetsu_proto::v1;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiError;
use crate::extract::position::{PositionQuery, parse};
use crate::extract::{ApiQuery, Caller, in_range};
use crate::state::AppState;

impl AppState {
    /// Looks up a position; `None` if the book does not hold it.
    pub(crate) async fn lookup(
        &self,
        caller: &Caller,
        position: &Position,
        searched: bool,
    ) -> Result<Option<Answer>, ApiError> {
        let request = caller.request(position.into());
        let found = self.services.books().lookup(request).await?.into_inner();
        let answer = if searched { found.facts } else { found.answer };
        decode(answer.as_ref())
    }
}

/// Decodes an answer of a service. An answer that cannot be read is a fault of the server.
pub(crate) fn decode(answer: Option<&v1::Answer>) -> Result<Option<Answer>, ApiError> {
    let decoded = answer.map(Answer::try_from).transpose();
    decoded.map_err(|error| damaged(error.to_string()))
}

pub(crate) fn damaged(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged_book", message)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BookQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// Whether to return values as they were searched, instead of values derived from the
    /// positions behind the moves.
    #[serde(default)]
    searched: bool,
}

/// Looks up a position in the book.
#[utoipa::path(
    get,
    path = "/api/v1/book",
    params(BookQuery),
    responses((status = 200, description = "What the book knows", body = AnswerJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn book(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<BookQuery>,
) -> Result<Json<AnswerJson>, ApiError> {
    let position = parse(&query.variant, query.fen.as_deref(), &query.moves)?;
    let answer = app.lookup(&caller, &position, query.searched).await?;
    match answer {
        Some(answer) => Ok(Json(AnswerJson::new(&position, &answer, 0))),
        None => Err(app.not_in_book(&caller, &position).await),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PickQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// Centi-units of value that make a move e times less likely; 0 picks the best move.
    temperature: Option<f64>,
    /// Seed of the random generator; by default each pick has another one.
    seed: Option<u64>,
    /// Leaves out moves that were searched less deeply and are not proven.
    min_depth: Option<u32>,
}

/// Picks one book move, as an engine would.
#[utoipa::path(
    get,
    path = "/api/v1/pick",
    params(PickQuery),
    responses((status = 200, description = "The move", body = PickJson), ApiError),
)]
pub(crate) async fn pick(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<PickQuery>,
) -> Result<Json<PickJson>, ApiError> {
    let position = parse(&query.variant, query.fen.as_deref(), &query.moves)?;
    let request = caller.request(v1::PickRequest {
        position: Some((&position).into()),
        temperature: in_range("temperature", query.temperature, 0.0, 0.0..=1e6)?,
        seed: query.seed,
        min_depth: in_range("min_depth", query.min_depth, 0, 0..=255)?,
    });
    let picked = app.services.books().pick(request).await?.into_inner();
    let verdicts = picked.verdict.into_iter().collect();
    let answer = decode(Some(&v1::Answer { verdicts }))?.unwrap_or_default();
    let Some((chosen, verdict)) = answer.best() else {
        return Err(app.not_in_book(&caller, &position).await);
    };
    let mut rivals = Vec::new();
    for rival in &picked.rivals {
        let rival = u16::try_from(rival.r#move).map_err(|_| damaged("no such move"))?;
        let rival = Move::new(rival);
        if rival != chosen {
            rivals.push(position.write_move(rival));
        }
    }
    Ok(Json(PickJson {
        r#move: position.write_move(chosen),
        value: ValueJson::of(verdict),
        depth: verdict.depth.into(),
        rivals,
    }))
}

/// Describes a position by the rules alone: side, outcome, legal moves.
#[utoipa::path(
    get,
    path = "/api/v1/position",
    params(PositionQuery),
    responses((status = 200, description = "The position", body = PositionJson), ApiError),
)]
pub(crate) async fn position(
    ApiQuery(query): ApiQuery<PositionQuery>,
) -> Result<Json<PositionJson>, ApiError> {
    let position = query.position()?;
    let name = |m| position.write_move(m);
    let forbidden = position.forbidden_moves().into_iter();
    let outcome = position.outcome().map(|outcome| match outcome {
        Outcome::Win(side) => side.to_string(),
        Outcome::Draw => "draw".into(),
    });
    Ok(Json(PositionJson {
        variant: position.variant().to_string(),
        moves: position.moves().iter().map(|&m| name(m)).collect(),
        side: position.side().to_string(),
        key: position.key().to_string(),
        fen: position.fen().ok(),
        outcome,
        legal: position.legal_moves().into_iter().map(name).collect(),
        forbidden: forbidden
            .map(|(m, reason)| ForbiddenJson {
                r#move: name(m),
                reason: reason.to_string(),
            })
            .collect(),
    }))
}
