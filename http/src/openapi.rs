//! The OpenAPI description of the API, made from the handlers and from the JSON types.

use axum::Json;
use kagetsu_api::ErrorJson;
use utoipa::OpenApi;

use crate::handlers::{
    analyses, books, builds, games, overview, priorities, status, suspects, transpositions, tree,
    workers,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Kagetsu",
        version = "1",
        description = "What an opening book knows, and the cluster that grows it. Values are from \
                       the view of the side to move. Every error is an Error. Answers about the \
                       book carry an ETag that changes with the book."
    ),
    servers((url = "http://127.0.0.1:7616")),
    paths(
        books::book,
        books::pick,
        books::position,
        overview::overview,
        overview::statistics,
        priorities::priorities,
        suspects::suspects,
        games::games,
        tree::tree,
        transpositions::transpositions,
        status::status,
        status::health,
        status::ready,
        builds::list,
        builds::start,
        builds::get,
        builds::history,
        builds::events,
        builds::pause,
        builds::resume,
        builds::cancel,
        builds::prioritize,
        builds::build_settings,
        workers::list,
        analyses::analyze,
        description
    ),
    components(schemas(ErrorJson))
)]
pub(crate) struct ApiDescription;

/// Returns this description.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    responses((status = 200, description = "The description", body = Object))
)]
pub(crate) async fn description() -> Json<utoipa::openapi::OpenApi> {
    Json(ApiDescription::openapi())
}
