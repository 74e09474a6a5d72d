use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, StatusCode};
use kagetsu_api::ErrorJson;
use kagetsu_http::{Caller, ClientAddress, Rights, Target};

use super::authenticator::Authenticator;
use super::error::AuthError;
use super::layer::AuthState;
use super::permission::Permission;

/// Authenticates the callers of HTTP routes. A route needs the permission of the rpc that it
/// stands for; the rpc itself is checked again.
pub(crate) fn authenticate_http(router: Router, authenticator: &Arc<Authenticator>) -> Router {
    if authenticator.is_open() {
        return router;
    }
    let state = AuthState::new(authenticator);
    router.layer(from_fn_with_state(state, authenticate))
}

/// The permission that a request needs. Only an administrator asks for what no route declares.
fn permission(method: &Method, path: &str) -> Permission {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if is_read && path == "/metrics" {
        return Permission::Read;
    }
    match kagetsu_http::target(method, path) {
        Some(Target::Public) => Permission::Public,
        Some(Target::Rpc(rpc)) => Permission::of_rpc(rpc).unwrap_or(Permission::Admin),
        // A reader may learn that a path does not exist.
        None if is_read && path.starts_with("/api/v1/") => Permission::Read,
        None => Permission::Admin,
    }
}

async fn authenticate(State(auth): State<AuthState>, mut request: Request, next: Next) -> Response {
    let client = request.extensions().get::<ClientAddress>();
    let client = client.map(|ClientAddress(address)| *address);
    let permission = permission(request.method(), request.uri().path());
    match auth.authorize(&request, client, permission) {
        Err(error) => rejection(&error),
        Ok(principal) => {
            request.headers_mut().remove(AUTHORIZATION);
            let rights = Rights {
                analyse: principal.has(Permission::Analyse),
                build: principal.has(Permission::Build),
                by_token: true,
            };
            request.extensions_mut().insert(rights);
            request.extensions_mut().insert(Caller::from(principal));
            next.run(request).await
        }
    }
}

/// An error in the form of every error of the API.
fn rejection(error: &AuthError) -> Response {
    let code = StatusCode::from_u16(error.http_code()).unwrap_or(StatusCode::FORBIDDEN);
    let body = ErrorJson::new(error.code(), error.to_string());
    let mut response = (code, Json(body)).into_response();
    let headers = response.headers_mut();
    if code == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(wait) = error.retry_after() {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        headers.insert(RETRY_AFTER, millis.div_ceil(1_000).max(1).into());
    }
    response
}
