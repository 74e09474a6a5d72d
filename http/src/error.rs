use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use kagetsu_api::ErrorJson;
use kagetsu_proto::retry_after;
use tonic::{Code, Status};

/// The longest accepted request body, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 256 << 10;

/// Why a request gets no answer: `{"error": {"code": "...", "message": "..."}}`. The code is a word for programs, the
/// message says to a person what happened and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// When to come again, where that helps.
    pub(crate) retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            retry_after: None,
        }
    }

    /// A parameter or a body that cannot be.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }
}

/// The one place where a service's refusal becomes an HTTP status.
impl From<Status> for ApiError {
    fn from(status: Status) -> Self {
        let (http, code) = match status.code() {
            Code::InvalidArgument | Code::OutOfRange => (StatusCode::BAD_REQUEST, "bad_request"),
            Code::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted => {
                (StatusCode::CONFLICT, "conflict")
            }
            Code::PermissionDenied => (StatusCode::FORBIDDEN, "forbidden"),
            Code::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Code::ResourceExhausted => (StatusCode::TOO_MANY_REQUESTS, "exhausted"),
            Code::Unavailable | Code::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Code::DeadlineExceeded => (StatusCode::GATEWAY_TIMEOUT, "too_late"),
            Code::DataLoss => (StatusCode::INTERNAL_SERVER_ERROR, "damaged_book"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        Self {
            retry_after: retry_after(&status),
            ..Self::new(http, code, status.message())
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

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorJson::new(self.code, self.message);
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
