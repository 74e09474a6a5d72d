//! The best lines of the book as a tree: `/tree`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kagetsu_api::{BranchJson, TreeJson, ValueJson};
use kagetsu_game::{Answer, Position};

use crate::error::ApiError;
use crate::extract::Params;
use crate::extract::position;
use crate::services::Services;
use crate::state::AppState;

/// Positions that one tree may look up.
const MOST_LOOKED_UP: usize = 2_000;

/// `GET /api/v1/tree`.
pub(crate) async fn tree<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(&[&position::PARAMETERS[..], &["plies", "top"]].concat())?;
    let position = position::from_query(&params)?;
    let plies = params.number("plies", 1..=32)?.unwrap_or(4);
    let top = params.number("top", 1..=50)?.unwrap_or(3);
    let mut growing = Growing {
        app: &app,
        top,
        left: MOST_LOOKED_UP,
    };
    let branches = growing.branches(&position, plies).await?;
    let not_held = || {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "not_in_book",
            format!("the book does not hold {position}"),
        )
    };
    let tree = TreeJson {
        variant: position.variant().to_string(),
        moves: position
            .moves()
            .iter()
            .map(|&m| position.write_move(m))
            .collect(),
        branches: branches.ok_or_else(not_held)?,
        is_cut: growing.left == 0,
    };
    Ok(Json(tree).into_response())
}

struct Growing<'a, S> {
    app: &'a AppState<S>,
    top: usize,
    left: usize,
}

impl<S: Services> Growing<'_, S> {
    /// The best moves of a position with what is behind them; `None` if the book does not hold it.
    async fn branches(
        &mut self,
        position: &Position,
        plies: u32,
    ) -> Result<Option<Vec<BranchJson>>, ApiError> {
        self.left = self.left.saturating_sub(1);
        let Some(answer) = self.app.lookup(position, false).await? else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for (m, verdict) in exact(&answer, self.top) {
            let next = position
                .play(*m)
                .ok()
                .filter(|_| plies > 1 && self.left > 0);
            let behind = match next {
                Some(next) => Box::pin(self.branches(&next, plies - 1)).await?,
                None => None,
            };
            branches.push(BranchJson {
                r#move: position.write_move(*m),
                value: ValueJson::of(verdict),
                depth: verdict.depth,
                branches: behind.unwrap_or_default(),
            });
        }
        Ok(Some(branches))
    }
}

/// The best moves of exact value.
fn exact(
    answer: &Answer,
    top: usize,
) -> impl Iterator<Item = &(kagetsu_game::Move, kagetsu_game::Verdict)> {
    answer
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.is_exact())
        .take(top)
}
