use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The longest accepted query, in bytes.
const MAX_QUERY_BYTES: usize = 32 << 10;

/// The parameters of a query, with errors in the form of the API.
#[derive(Debug)]
pub(crate) struct ApiQuery<T>(pub(crate) T);

/// The query of a route without parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        check_length(parts.uri.query().unwrap_or_default())?;
        let query = Query::<T>::from_request_parts(parts, state).await;
        let Query(parameters) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(parameters))
    }
}

/// The parameters of a path, with errors in the form of the API.
#[derive(Debug)]
pub(crate) struct ApiPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let Path(parameters) = path.map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(parameters))
    }
}

/// Checks the length of a query.
///
/// # Errors
/// If it is longer than accepted.
pub(crate) fn check_length(query: &str) -> Result<(), ApiError> {
    let length = query.len();
    if length > MAX_QUERY_BYTES {
        let message = format!("the query has {length} bytes, and may have {MAX_QUERY_BYTES}");
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, "too_long", message));
    }
    Ok(())
}
