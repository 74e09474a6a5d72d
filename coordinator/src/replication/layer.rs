use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{HeaderValue, Request, Response};
use kagetsu_proto::LEADER_HEADER;
use tonic::Status;
use tower::{Layer, Service};

use super::leadership::Leadership;
use crate::auth::Permission;

/// Answers requests that change something, or that need workers, with `UNAVAILABLE` while this
/// coordinator follows. All its responses name the leader's address then.
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
        if self.leadership.is_leader() {
            return Box::pin(self.inner.call(request));
        }
        let address = self.leadership.leader();
        let address = address.and_then(|address| HeaderValue::from_str(&address).ok());
        let named = move |mut response: Response<Body>| {
            if let Some(address) = address {
                response.headers_mut().insert(LEADER_HEADER, address);
            }
            Ok(response)
        };
        if needs_leader(request.uri().path()) {
            let refusal = Status::unavailable(self.leadership.refusal());
            return Box::pin(ready(named(refusal.into_http())));
        }
        let answering = self.inner.call(request);
        Box::pin(async move { named(answering.await?) })
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
