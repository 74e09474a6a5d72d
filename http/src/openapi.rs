//! The OpenAPI description of the API, made from the views, the handlers and the JSON types.

use axum::Json;
use kagetsu_api::{ErrorJson, UpdateJson, setting_schemas};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{RefOr, Schema};

use crate::handlers::{analyses, annotations, builds, position, status, views, workers};

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
        position::position,
        status::status,
        status::health,
        status::ready,
        builds::list,
        builds::start,
        builds::get,
        builds::history,
        builds::events,
        builds::change,
        builds::prioritize,
        builds::build_settings,
        workers::list,
        analyses::analyze,
        annotations::write,
        description
    ),
    components(schemas(ErrorJson, UpdateJson))
)]
struct HandlerDescription;

/// Describes the whole API.
pub(crate) fn describe() -> utoipa::openapi::OpenApi {
    let mut api = HandlerDescription::openapi();
    views::describe(&mut api);
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = api.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    for (name, may_be_null) in [("Start", false), ("Settings", true)] {
        if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
            object.properties.extend(setting_schemas(may_be_null));
        }
    }
    // A server without tokens asks for none.
    let token = SecurityRequirement::new::<_, _, &str>("token", []);
    api.security = Some(vec![SecurityRequirement::default(), token]);
    api
}

/// Returns this description.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    responses((status = 200, description = "The description", body = Object))
)]
pub(crate) async fn description() -> Json<utoipa::openapi::OpenApi> {
    Json(describe())
}
