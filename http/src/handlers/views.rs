//! The views of the book: one route for each, `/api/v1/NAME`.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use kagetsu_reader::{RegisteredView, VIEWS, ViewSchemas};
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::{
    ContentBuilder, OpenApi, Ref, RefOr, Required, ResponseBuilder, ResponsesBuilder, Schema,
};
use utoipa::{IntoParams, IntoResponses};

use crate::error::ApiError;
use crate::extract::position::{PositionQuery, parse};
use crate::extract::{Caller, check_length};
use crate::state::AppState;

/// The views with their routes.
pub(crate) fn routes() -> impl Iterator<Item = (&'static RegisteredView, &'static str)> {
    static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let paths = VIEWS.iter().map(|view| format!("/api/v1/{}", view.name));
        paths.collect()
    });
    VIEWS.iter().zip(PATHS.iter().map(String::as_str))
}

/// Reads a view by the rpc that reads all of them.
pub(crate) async fn read(
    view: &'static RegisteredView,
    app: Arc<AppState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let (position, options) = read_query(view, &query.unwrap_or_default())?;
    let request = caller.request(v1::ReadRequest {
        view: view.name.into(),
        position: position.as_ref().map(Into::into),
        options,
    });
    let json = app.services.books().read(request).await?.into_inner().json;
    Ok(([(CONTENT_TYPE, "application/json")], Body::from(json)).into_response())
}

/// Reads the position of a query, and its other parameters as the JSON of the view's options. A
/// parameter without a value is as good as none.
fn read_query(view: &RegisteredView, query: &str) -> Result<(Option<Position>, String), ApiError> {
    check_length(query)?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let (mut place, mut options) = ([const { None }; 3], Vec::new());
    for (name, value) in pairs {
        let at = ["variant", "moves", "fen"]
            .iter()
            .position(|known| *known == name);
        match at.filter(|_| view.at_position) {
            Some(at) if place[at].is_none() => place[at] = Some(value),
            Some(_) => {
                return Err(ApiError::bad_request(format!("duplicate field `{name}`")));
            }
            None if value.is_empty() => {}
            None => options.push((name, value)),
        }
    }
    let options = serde_urlencoded::to_string(options).unwrap_or_default();
    let options = (view.queried)(&options).map_err(ApiError::bad_request)?;
    if !view.at_position {
        return Ok((None, options));
    }
    let [variant, moves, fen] = place;
    let variant = variant.ok_or_else(|| ApiError::bad_request("missing field `variant`"))?;
    let position = parse(&variant, fen.as_deref(), &moves.unwrap_or_default())?;
    Ok((Some(position), options))
}

/// Adds the operations of all views to a description.
pub(crate) fn describe(api: &mut OpenApi) {
    let components = api.components.get_or_insert_default();
    for (view, path) in routes() {
        let ViewSchemas {
            options,
            result,
            named,
        } = (view.schemas)();
        components.schemas.extend(named);
        let operation = operation(view, &options, &result);
        api.paths
            .add_path_operation(path, vec![HttpMethod::Get], operation);
    }
}

fn operation(view: &RegisteredView, options: &RefOr<Schema>, result: &str) -> Operation {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(result)));
    let found = ResponseBuilder::new()
        .description("What the book has")
        .content("application/json", content.build());
    let unchanged = ResponseBuilder::new().description("The book has not changed since the ETag");
    let responses = ResponsesBuilder::new()
        .response("200", found)
        .response("304", unchanged)
        .responses_from_iter(ApiError::responses());
    let position = view
        .at_position
        .then(|| PositionQuery::into_params(|| Some(ParameterIn::Query)));
    let parameters = position.into_iter().flatten().chain(parameters(options));
    OperationBuilder::new()
        .operation_id(Some(view.name))
        .summary(Some(view.help().0))
        .parameters(Some(parameters.collect::<Vec<_>>()))
        .responses(responses.build())
        .build()
}

/// Returns the options of a view as parameters.
fn parameters(options: &RefOr<Schema>) -> Vec<Parameter> {
    let RefOr::T(Schema::Object(object)) = options else {
        return Vec::new();
    };
    let parameter = |(name, schema): (&String, &RefOr<Schema>)| {
        let (description, schema) = match schema {
            RefOr::T(Schema::Object(object)) => (object.description.clone(), schema),
            // An inner type stands alone in it.
            RefOr::T(Schema::OneOf(one)) if one.items.len() == 1 => {
                (one.description.clone(), &one.items[0])
            }
            RefOr::T(Schema::OneOf(one)) => (one.description.clone(), schema),
            _ => (None, schema),
        };
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Query)
            .required(Required::False)
            .description(description)
            .schema(Some(schema.clone()))
            .build()
    };
    object.properties.iter().map(parameter).collect()
}
