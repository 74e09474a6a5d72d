use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{HeaderValue, Request, Response};
use tonic::Status;
use tower::{Layer, Service};

use super::leadership::Leadership;
use crate::auth::Permission;

/// The header with the leader's address in the answer of a follower.
const LEADER_HEADER: &str = "kagetsu-leader";

/// Answers requests that change something, or that need workers, with `UNAVAILABLE` and the
/// leader's address while this coordinator follows.
#[derive(Clone, Debug)]
pub(crate) struct LeaderLayer(pub(crate) Leadership);

/// A service behind a [`LeaderLayer`].
#[derive(Clone, Debug)]
pub(crate) struct LeaderOnly<S> {
    leadership: Leadership,
    inner: S,
}

impl<S> Layer<S> for LeaderLayer {
    type Service = LeaderOnly<S>;

    fn layer(&self, inner: S) -> LeaderOnly<S> {
        LeaderOnly {
            leadership: self.0.clone(),
            inner,
        }
    }
}

/// Returns whether only the leader answers an rpc.
fn needs_leader(rpc: &str) -> bool {
    match Permission::of_rpc(rpc) {
        Some(Permission::Public | Permission::AnyToken | Permission::Read) => false,
        Some(Permission::Analyse | Permission::Build | Permission::Work | Permission::Admin) => {
            true
        }
        None => false,
    }
}

impl<S> Service<Request<Body>> for LeaderOnly<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if self.leadership.is_leader() || !needs_leader(request.uri().path()) {
            return Box::pin(self.inner.call(request));
        }
        let mut response = Status::unavailable(self.leadership.refusal()).into_http();
        let address = self.leadership.leader();
        if let Some(address) = address.and_then(|address| HeaderValue::from_str(&address).ok()) {
            response.headers_mut().insert(LEADER_HEADER, address);
        }
        Box::pin(ready(Ok(response)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_workers_need_the_leader() {
        for rpc in [
            "Analysis/Analyze",
            "Builds/Start",
            "Builds/Pause",
            "Workers/Work",
            "Workers/Beat",
            "Workers/Release",
        ] {
            assert!(needs_leader(&format!("/kagetsu.v1.{rpc}")), "{rpc}");
        }
        for rpc in [
            "Books/Lookup",
            "Books/Export",
            "Builds/List",
            "Builds/Watch",
        ] {
            assert!(!needs_leader(&format!("/kagetsu.v1.{rpc}")), "{rpc}");
        }
        assert!(!needs_leader("/grpc.health.v1.Health/Check"));
    }
}
