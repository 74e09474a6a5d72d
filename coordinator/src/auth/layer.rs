use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use kagetsu_proto::LogThrottle;
use tonic::transport::server::TcpConnectInfo;
use tower::{Layer, Service};

use super::authenticator::{Authenticator, Principal, RequestCredentials};
use super::error::AuthError;
use super::permission::Permission;
use super::revocable::{RevocableBody, StreamDirection};

/// Holds every rpc to its [`Permission`]. A request that carries a [`Principal`] already, because
/// HTTP has authenticated its caller, is not authenticated again.
#[derive(Clone, Debug)]
pub struct AuthLayer {
    authenticator: Arc<Authenticator>,
    log: Arc<LogThrottle>,
}

/// A service behind an [`AuthLayer`].
#[derive(Clone, Debug)]
pub struct Authorized<S> {
    layer: AuthLayer,
    inner: S,
}

impl AuthLayer {
    /// A layer that asks `authenticator`.
    #[must_use]
    pub fn new(authenticator: Arc<Authenticator>) -> Self {
        Self {
            authenticator,
            log: Arc::default(),
        }
    }

    fn authorize(&self, request: &Request<Body>) -> Result<Principal, AuthError> {
        let rpc = request.uri().path();
        // Only an administrator calls an rpc without a declared permission.
        let permission = Permission::of_rpc(rpc).unwrap_or(Permission::Admin);
        if let Some(principal) = request.extensions().get::<Principal>() {
            principal.require(permission)?;
            return Ok(principal.clone());
        }
        let client = request.extensions().get::<TcpConnectInfo>();
        let client = client.and_then(TcpConnectInfo::remote_addr);
        let shown = request.headers().get(AUTHORIZATION);
        let credentials = RequestCredentials {
            authorization: shown.and_then(|value| value.to_str().ok()),
            address: client.map(|client| client.ip()),
        };
        let authorized = self.authenticator.authorize(credentials, permission);
        authorized.inspect_err(|error| {
            let Some(others) = self.log.allow(Instant::now()) else {
                return;
            };
            let client = client.map_or_else(|| "unknown".into(), |client| client.to_string());
            let reason = error.code();
            tracing::warn!(client, rpc, others, reason, "rejected a request: {error}");
        })
    }
}

impl<S> Layer<S> for AuthLayer {
    type Service = Authorized<S>;

    fn layer(&self, inner: S) -> Authorized<S> {
        Authorized {
            layer: self.clone(),
            inner,
        }
    }
}

impl<S> Service<Request<Body>> for Authorized<S>
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

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if self.layer.authenticator.is_open() {
            return Box::pin(self.inner.call(request));
        }
        let principal = match self.layer.authorize(&request) {
            Ok(principal) => principal,
            Err(error) => return Box::pin(ready(Ok(error.status().into_http()))),
        };
        tracing::debug!(
            token = principal.name.as_deref(),
            rpc = request.uri().path(),
            "a request"
        );
        // The services do not need the token, so they cannot leak it.
        request.headers_mut().remove(AUTHORIZATION);
        let revoked = principal.revoked.clone();
        request.extensions_mut().insert(principal);
        let request = request.map(|body| revocable(body, &revoked, StreamDirection::Request));
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            Ok(response.map(|body| revocable(body, &revoked, StreamDirection::Response)))
        })
    }
}

fn revocable(
    body: Body,
    revoked: &tokio_util::sync::CancellationToken,
    direction: StreamDirection,
) -> Body {
    Body::new(RevocableBody::new(
        tonic::body::Body::new(body),
        revoked,
        direction,
    ))
}
