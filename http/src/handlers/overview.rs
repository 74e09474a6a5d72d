//! The book as a whole: `/books`, `/statistics`, and the error for a position that it lacks.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use kagetsu_api::{
    Nearest, Overview, OverviewJson, StatisticsJson, ValueJson, read_overview, read_statistics,
};
use kagetsu_game::Position;
use kagetsu_proto::v1;

use crate::error::ApiError;
use crate::extract::{ApiQuery, Caller, NoParameters};
use crate::handlers::books::{damaged, decode};
use crate::state::AppState;

/// Roots that get their values.
const MAX_VALUED_ROOTS: usize = 1_000;
/// Earlier positions of a line that are looked up for the nearest one.
const MAX_PREFIXES: usize = 400;

/// Lists the variants of the book, the positions where it begins, and how many it holds behind
/// each.
#[utoipa::path(
    get,
    path = "/api/v1/books",
    responses((status = 200, description = "The content in short", body = OverviewJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn overview(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    _: ApiQuery<NoParameters>,
) -> Result<Json<OverviewJson>, ApiError> {
    let overview = app.overview(&caller).await?;
    let mut json = OverviewJson::from(&overview);
    let roots = overview.variants.iter().flat_map(|held| &held.roots);
    let roots: Vec<Position> = roots.map(|root| root.position.clone()).collect();
    let roots = &roots[..roots.len().min(MAX_VALUED_ROOTS)];
    let found = app.lookup_all(&caller, roots, 0).await?;
    let listed = json.variants.iter_mut().flat_map(|held| &mut held.roots);
    for ((root, position), found) in listed.zip(roots).zip(found) {
        let answer = decode(found.answer.as_ref())?.unwrap_or_default();
        let best = answer
            .verdicts()
            .iter()
            .find(|(_, verdict)| verdict.is_exact());
        root.best = best.map(|(m, _)| position.write_move(*m));
        root.value = best.map(|(_, verdict)| ValueJson::of(verdict));
    }
    Ok(Json(json))
}

/// Counts the positions by stones, depth and proof, the moves by engine, and the nearest holes.
///
/// The numbers of a book that grows may be a minute old.
#[utoipa::path(
    get,
    path = "/api/v1/statistics",
    responses((status = 200, description = "The statistics", body = StatisticsJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn statistics(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    _: ApiQuery<NoParameters>,
) -> Result<Json<StatisticsJson>, ApiError> {
    let read = async || {
        let request = caller.request(v1::StatisticsRequest {});
        Ok(app.services.books().statistics(request).await?.into_inner())
    };
    let message = app.statistics.get(app.server.epoch(), read).await?;
    let statistics = read_statistics(&message).map_err(|error| damaged(error.to_string()))?;
    Ok(Json(statistics))
}

impl AppState {
    /// The variants and roots of the book; of a book that grows, as they were some seconds ago.
    pub(crate) async fn overview(&self, caller: &Caller) -> Result<Overview, ApiError> {
        let read = async || {
            let request = caller.request(v1::OverviewRequest {});
            Ok(self.services.books().overview(request).await?.into_inner())
        };
        let message = self.overview.get(self.server.epoch(), read).await?;
        read_overview(&message).map_err(|error| damaged(error.to_string()))
    }

    /// The error for a position that the book does not hold. It names the nearest part of the book.
    pub(crate) async fn not_in_book(&self, caller: &Caller, position: &Position) -> ApiError {
        match self.nearest(caller, position).await {
            Ok(nearest) => {
                let message = nearest.message(position);
                let mut error = ApiError::new(StatusCode::NOT_FOUND, "not_in_book", message);
                if let Nearest::Line(line) = nearest {
                    error.held_moves = Some(line.moves().len());
                }
                error
            }
            Err(error) => error,
        }
    }

    async fn nearest(&self, caller: &Caller, position: &Position) -> Result<Nearest, ApiError> {
        let prefixes = Nearest::prefixes(position, MAX_PREFIXES);
        let found = self.lookup_all(caller, &prefixes, 1).await?;
        let mut held = prefixes.into_iter().zip(found);
        let line = held.find(|(_, found)| found.answer.is_some());
        let overview = self.overview(caller).await?;
        Ok(overview.nearest(position, line.map(|(line, _)| line)))
    }
}
