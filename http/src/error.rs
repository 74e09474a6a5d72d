use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::header::RETRY_AFTER;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use kagetsu_api::{ErrorBody, ErrorJson};
use kagetsu_game::quote_message;
use kagetsu_proto::retry_after;
use tonic::{Code, Status};
use utoipa::IntoResponses;
use utoipa::openapi::{self, ContentBuilder, Ref, RefOr, ResponseBuilder};

/// The longest accepted request body, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 256 << 10;

/// Why a request fails: the content of an [`ErrorJson`] and the status of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    /// The moves of the asked line that the book holds; see [`ErrorBody`](kagetsu_api::ErrorBody).
    pub(crate) held_moves: Option<usize>,
    /// Time after which the same request may succeed; `None` if waiting does not help.
    pub(crate) retry_after: Option<Duration>,
}

impl ApiError {
    /// An error whose message may repeat parts of the request: they are escaped and cut.
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.into(),
            message: quote_message(&message.into()).to_string(),
            held_moves: None,
            retry_after: None,
        }
    }

    /// A path at which there is nothing.
    pub(crate) fn no_route(uri: &Uri) -> Self {
        let path = uri.path();
        let message =
            format!("there is nothing at {path}; /api/v1/openapi.json describes what there is");
        Self::new(StatusCode::NOT_FOUND, "no_such_route", message)
    }

    /// An invalid parameter or body.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }
}

/// Translates gRPC statuses into HTTP statuses.
impl From<Status> for ApiError {
    fn from(status: Status) -> Self {
        let (http, code) = match status.code() {
            Code::InvalidArgument | Code::OutOfRange => (StatusCode::BAD_REQUEST, "bad_request"),
            Code::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted => {
                (StatusCode::CONFLICT, "conflict")
            }
            // A server without a cluster lacks the services of one.
            Code::Unimplemented => {
                let message = "this server only reads its book: analyses, builds and workers \
                               need a coordinator";
                return Self::new(StatusCode::CONFLICT, "conflict", message);
            }
            Code::PermissionDenied => (StatusCode::FORBIDDEN, "forbidden"),
            Code::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Code::ResourceExhausted => (StatusCode::TOO_MANY_REQUESTS, "exhausted"),
            Code::Unavailable | Code::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Code::DeadlineExceeded => (StatusCode::GATEWAY_TIMEOUT, "too_late"),
            Code::DataLoss => (StatusCode::INTERNAL_SERVER_ERROR, "damaged_book"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        let error = Self {
            retry_after: retry_after(&status),
            ..Self::new(http, code, status.message())
        };
        // The service of the book says more.
        match serde_json::from_slice::<ErrorBody>(status.details()) {
            Ok(body) => Self {
                code: body.code.into(),
                held_moves: body.held_moves,
                ..error
            },
            Err(_) => error,
        }
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let message = format!(
                "a body may have {MAX_BODY_BYTES} bytes: build from fewer roots, or over gRPC"
            );
            return Self::new(rejection.status(), "too_long", message);
        }
        Self::new(rejection.status(), "bad_body", rejection.body_text())
    }
}

/// Describes errors in the API's description: every error has the same form.
impl IntoResponses for ApiError {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let schema = Ref::from_schema_name("Error");
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let response = ResponseBuilder::new()
            .description("An error: its code for programs, its message for people")
            .content("application/json", content);
        BTreeMap::from([("default".into(), response.build().into())])
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = ErrorJson::new(self.code, self.message);
        body.error.held_moves = self.held_moves;
        let mut answer = (self.status, Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = u64::try_from(wait.as_millis())
                .unwrap_or(u64::MAX)
                .div_ceil(1_000);
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        answer
    }
}
