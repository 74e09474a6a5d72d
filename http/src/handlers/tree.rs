//! The best lines of the book as a tree: `/tree`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::{BranchJson, TreeJson, ValueJson};
use kagetsu_game::{Answer, Move, Position, Verdict};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiError;
use crate::extract::position::parse;
use crate::extract::{ApiQuery, Caller, in_range};
use crate::state::AppState;

/// The look-ups that one tree may make.
const MAX_LOOKUPS: usize = 2_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TreeQuery {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    variant: String,
    /// Moves from the start or from `fen`, separated by spaces or commas; gomoku also without
    /// separators.
    #[serde(default)]
    moves: String,
    /// The position before the first move, for xiangqi and surakarta.
    fen: Option<String>,
    /// The depth of the tree in plies, from 1 to 32; 4 by default.
    plies: Option<u32>,
    /// The number of moves from each position, from 1 to 50; 3 by default.
    top: Option<usize>,
}

/// Returns the best lines of the book as a tree.
#[utoipa::path(
    get,
    path = "/api/v1/tree",
    params(TreeQuery),
    responses((status = 200, description = "The tree", body = TreeJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn tree(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<TreeQuery>,
) -> Result<Json<TreeJson>, ApiError> {
    let position = parse(&query.variant, query.fen.as_deref(), &query.moves)?;
    let plies = in_range("plies", query.plies, 4, 1..=32)?;
    let top = in_range("top", query.top, 3, 1..=50)?;
    let mut builder = TreeBuilder {
        app: &app,
        caller: &caller,
        top,
        lookups_left: MAX_LOOKUPS,
    };
    let branches = builder.branches(&position, plies).await?;
    let is_cut = builder.lookups_left == 0;
    let Some(branches) = branches else {
        return Err(app.not_in_book(&caller, &position).await);
    };
    let write = |&m| position.write_move(m);
    Ok(Json(TreeJson {
        variant: position.variant().to_string(),
        moves: position.moves().iter().map(write).collect(),
        branches,
        is_cut,
    }))
}

struct TreeBuilder<'a> {
    app: &'a AppState,
    caller: &'a Caller,
    top: usize,
    lookups_left: usize,
}

impl TreeBuilder<'_> {
    /// The best moves of a position with the replies to them; `None` if the book does not hold the
    /// position.
    async fn branches(
        &mut self,
        position: &Position,
        plies: u32,
    ) -> Result<Option<Vec<BranchJson>>, ApiError> {
        self.lookups_left = self.lookups_left.saturating_sub(1);
        let Some(answer) = self.app.lookup(self.caller, position, false).await? else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for (m, verdict) in best_exact(&answer, self.top) {
            let goes_on = plies > 1 && self.lookups_left > 0;
            let replies = match position.play(*m).ok().filter(|_| goes_on) {
                Some(next) => Box::pin(self.branches(&next, plies - 1)).await?,
                None => None,
            };
            branches.push(BranchJson {
                r#move: position.write_move(*m),
                value: ValueJson::of(verdict),
                depth: verdict.depth,
                branches: replies.unwrap_or_default(),
            });
        }
        Ok(Some(branches))
    }
}

/// The best moves of exact value.
fn best_exact(answer: &Answer, top: usize) -> impl Iterator<Item = &(Move, Verdict)> {
    let exact = answer.verdicts().iter().filter(|(_, v)| v.is_exact());
    exact.take(top)
}
