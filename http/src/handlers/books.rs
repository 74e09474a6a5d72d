//! Reading the book: `/book`, `/pick`, `/position`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kagetsu_api::{AnswerJson, ForbiddenJson, PickJson, PositionJson, ValueJson};
use kagetsu_game::{Answer, Outcome, Position};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::Books as _;
use tonic::Request;

use crate::error::ApiError;
use crate::extract::Params;
use crate::extract::position;
use crate::services::Services;
use crate::state::AppState;

/// Answers that the book gives are the service's own: what it says is trusted as far as it can be read.
pub(crate) fn read(answer: Option<&v1::Answer>) -> Result<Option<Answer>, ApiError> {
    let read = answer.map(Answer::try_from).transpose();
    read.map_err(|error| {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "damaged_book",
            error.to_string(),
        )
    })
}

impl<S: Services> AppState<S> {
    /// What the book knows of a position; `None` if it does not hold it.
    pub(crate) async fn lookup(
        &self,
        position: &Position,
        searched: bool,
    ) -> Result<Option<Answer>, ApiError> {
        let found = self
            .services
            .books()
            .lookup(Request::new(position.into()))
            .await?
            .into_inner();
        read(if searched {
            found.facts.as_ref()
        } else {
            found.answer.as_ref()
        })
    }
}

fn not_held(position: &Position) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not_in_book",
        format!("the book does not hold {position}"),
    )
}

/// `GET /api/v1/book`.
pub(crate) async fn book<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(&[&position::PARAMETERS[..], &["searched"]].concat())?;
    let position = position::from_query(&params)?;
    let answer = app.lookup(&position, params.flag("searched")?).await?;
    let answer = answer.ok_or_else(|| not_held(&position))?;
    Ok(Json(AnswerJson::new(&position, &answer, 0)).into_response())
}

/// `GET /api/v1/pick`.
pub(crate) async fn pick<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(
        &[
            &position::PARAMETERS[..],
            &["temperature", "seed", "min_depth"],
        ]
        .concat(),
    )?;
    let position = position::from_query(&params)?;
    let request = v1::PickRequest {
        position: Some((&position).into()),
        temperature: params.number("temperature", 0.0..=1e6)?.unwrap_or(0.0),
        seed: params.number("seed", 0..=u64::MAX)?,
        min_depth: params.number("min_depth", 0..=255)?.unwrap_or(0),
    };
    let picked = app
        .services
        .books()
        .pick(Request::new(request))
        .await?
        .into_inner();
    let all: Vec<v1::Verdict> = picked.verdict.into_iter().chain(picked.rivals).collect();
    let names = |verdict: &v1::Verdict| u16::try_from(verdict.r#move).map(kagetsu_game::Move::new);
    let names: Result<Vec<_>, _> = all.iter().map(names).collect();
    let names = names.map_err(|_| {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "damaged_book",
            "no such move",
        )
    })?;
    let chosen = all
        .first()
        .zip(names.first())
        .ok_or_else(|| not_held(&position))?;
    let verdict = read(Some(&v1::Answer {
        verdicts: vec![chosen.0.clone()],
    }))?
    .unwrap_or_default();
    let (m, verdict) = verdict.best().ok_or_else(|| not_held(&position))?;
    let rivals = names
        .iter()
        .skip(1)
        .filter(|rival| **rival != m)
        .map(|&m| position.write_move(m))
        .collect();
    let value = ValueJson::of(verdict);
    let pick = PickJson {
        r#move: position.write_move(m),
        value,
        depth: verdict.depth.into(),
        rivals,
    };
    Ok(Json(pick).into_response())
}

/// `GET /api/v1/position`.
pub(crate) async fn position(params: Params) -> Result<Response, ApiError> {
    params.only(&position::PARAMETERS)?;
    let position = position::from_query(&params)?;
    let name = |m| position.write_move(m);
    let forbidden = position.forbidden_moves().into_iter();
    let json = PositionJson {
        variant: position.variant().to_string(),
        moves: position.moves().iter().map(|&m| name(m)).collect(),
        side: position.side().to_string(),
        key: position.key().to_string(),
        fen: position.fen().ok(),
        outcome: position.outcome().map(|outcome| match outcome {
            Outcome::Win(side) => side.to_string(),
            Outcome::Draw => "draw".into(),
        }),
        legal: position.legal_moves().into_iter().map(name).collect(),
        forbidden: forbidden
            .map(|(m, why)| ForbiddenJson {
                r#move: name(m),
                reason: why.to_string(),
            })
            .collect(),
    };
    Ok(Json(json).into_response())
}
