//! Streams of events: who gets one, and what they say.

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
use crate::server::Client;

/// When to come again where all places are taken.
const COME_AGAIN: Duration = Duration::from_secs(5);

/// A place among streams of a kind, which are open for long: there are only so many.
///
/// # Errors
/// If there is none for this client.
pub(crate) fn reserve(
    of: &Arc<PerIpLimiter>,
    client: Option<Extension<Client>>,
    what: &str,
) -> Result<PerIpPermit, ApiError> {
    let address = client.map_or(
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        |Extension(Client(client))| client.ip(),
    );
    of.acquire(address).map_err(|full| {
        let message = match full {
            LimitReached::Total(most) => format!("{most} {what} are open, no more at a time; come again later"),
            LimitReached::PerAddress(most) => {
                format!("your address has {most} {what} open, no more for one: close another page, or come again later")
            }
        };
        let retry_after = Some(COME_AGAIN);
        ApiError { retry_after, ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "exhausted", message) }
    })
}

/// One event of a stream, or its end with the reason.
pub(crate) fn told<T: Serialize>(name: &str, what: Result<T, Status>) -> Result<Event, Infallible> {
    let event = |what: T| Event::default().event(name).json_data(what);
    Ok(match what.map(event) {
        Ok(Ok(event)) => event,
        Ok(Err(error)) => refused(&ApiError::from(Status::internal(error.to_string()))),
        Err(status) => refused(&ApiError::from(status)),
    })
}

/// An event without an answer must not be lost: it ends the stream, and says why.
fn refused(refusal: &ApiError) -> Event {
    let body = ErrorJson::new(refusal.code, &refusal.message);
    Event::default()
        .event("error")
        .json_data(body)
        .expect("text serializes")
}
