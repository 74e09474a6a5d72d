use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use http::header::AUTHORIZATION;
use kagetsu_proto::LogThrottle;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpConnectInfo;

use super::authenticator::{Authenticator, Principal, RequestCredentials};
use super::error::AuthError;
use super::permission::Permission;
use super::revocable::{RevocableBody, StreamDirection};

/// Holds every rpc to its [`Permission`]. A request that carries a [`Principal`] already, because
/// HTTP has authenticated its caller, is not authenticated again.
pub(crate) fn authenticate_rpcs(router: Router, authenticator: &Arc<Authenticator>) -> Router {
    if authenticator.is_open() {
        return router;
    }
    let state = AuthState::new(authenticator);
    router.layer(from_fn_with_state(state, authenticate))
}

/// The authenticator, and the limit of the log of rejections.
#[derive(Clone)]
pub(super) struct AuthState {
    authenticator: Arc<Authenticator>,
    log: Arc<LogThrottle>,
}

impl AuthState {
    pub(super) fn new(authenticator: &Arc<Authenticator>) -> Self {
        Self {
            authenticator: Arc::clone(authenticator),
            log: Arc::default(),
        }
    }

    /// Authenticates the caller of a request by its header, and logs a rejection.
    pub(super) fn authorize(
        &self,
        request: &Request,
        client: Option<SocketAddr>,
        permission: Permission,
    ) -> Result<Principal, AuthError> {
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
            let (method, path) = (request.method().as_str(), request.uri().path());
            let reason = error.code();
            tracing::warn!(
                client,
                method,
                path,
                others,
                reason,
                "rejected a request: {error}"
            );
        })
    }

    fn authorize_rpc(&self, request: &Request) -> Result<Principal, AuthError> {
        // Only an administrator calls an rpc without a declared permission.
        let permission = Permission::of_rpc(request.uri().path()).unwrap_or(Permission::Admin);
        if let Some(principal) = request.extensions().get::<Principal>() {
            principal.require(permission)?;
            return Ok(principal.clone());
        }
        let client = request.extensions().get::<TcpConnectInfo>();
        self.authorize(
            request,
            client.and_then(TcpConnectInfo::remote_addr),
            permission,
        )
    }
}

async fn authenticate(State(auth): State<AuthState>, mut request: Request, next: Next) -> Response {
    let principal = match auth.authorize_rpc(&request) {
        Ok(principal) => principal,
        Err(error) => return error.status().into_http(),
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
    let response = next.run(request).await;
    response.map(|body| revocable(body, &revoked, StreamDirection::Response))
}

fn revocable(body: Body, revoked: &CancellationToken, direction: StreamDirection) -> Body {
    let body = tonic::body::Body::new(body);
    Body::new(RevocableBody::new(body, revoked, direction))
}
