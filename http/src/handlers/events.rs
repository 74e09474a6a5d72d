//! Server-sent events: the limit of open streams, and the events themselves.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::http::StatusCode;
use axum::response::sse::Event;
use kagetsu_api::ErrorJson;
use kagetsu_proto::{LimitReached, PerIpLimiter, PerIpPermit};
use serde::Serialize;
use tonic::Status;

use crate::error::ApiError;
use crate::server::ClientAddress;

/// Advice to clients that find no stream free.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Reserves one of the open streams of a kind; `what` names the kind in the plural.
///
/// # Errors
/// If no stream is free for this client.
pub(crate) fn reserve(
    of: &Arc<PerIpLimiter>,
    client: Option<Extension<ClientAddress>>,
    what: &str,
) -> Result<PerIpPermit, ApiError> {
    let address = client.map_or(
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        |Extension(ClientAddress(client))| client.ip(),
    );
    of.acquire(address).map_err(|full| {
        let message = match full {
            LimitReached::Total(limit) => {
                format!("{limit} {what} are open, no more at a time; come again later")
            }
            LimitReached::PerAddress(limit) => format!(
                "your address has {limit} {what} open, no more for one: close another page, or \
                 come again later"
            ),
        };
        ApiError {
            retry_after: Some(RETRY_AFTER),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "exhausted", message)
        }
    })
}

/// One event of a stream as descriptions of the API see it.
#[derive(utoipa::ToSchema)]
#[schema(as = Event)]
#[expect(dead_code, reason = "it describes what axum writes")]
pub(crate) struct EventJson {
    /// Its name: `job` or `answer`, or `error` at an early end.
    event: String,
    /// Its content as JSON: a Job or an Update, or an Error.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// One event of a stream. An error becomes the event `error`, which ends the stream.
pub(crate) fn event<T: Serialize>(
    name: &str,
    result: Result<T, Status>,
) -> Result<Event, Infallible> {
    let event = result.map(|content| Event::default().event(name).json_data(content));
    Ok(match event {
        Ok(Ok(event)) => event,
        Ok(Err(error)) => error_event(&ApiError::from(Status::internal(error.to_string()))),
        Err(status) => error_event(&ApiError::from(status)),
    })
}

fn error_event(error: &ApiError) -> Event {
    let body = ErrorJson::new(error.code.clone(), &error.message);
    Event::default()
        .event("error")
        .json_data(body)
        .expect("text serializes")
}
