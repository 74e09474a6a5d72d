//! The headers that tell a browser what it may do with an answer.

use axum::Router;
use axum::http::header::{
    AUTHORIZATION, CONTENT_SECURITY_POLICY, ETAG, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method};
use tower_http::cors::CorsLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::access::AccessPolicy;

/// The page loads from its own server only, and no other page may frame it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                              img-src 'self' data:; connect-src 'self'; manifest-src 'self'; \
                              base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Adds the headers to every response of a router. It must be the outermost layer, so that errors
/// have the headers too. Pages of the allowed origins may read, and their browsers may ask before.
pub fn with_browser_headers(router: Router, access: &AccessPolicy) -> Router {
    let headers = [
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    let router = headers.into_iter().fold(router, |router, (name, value)| {
        let value = HeaderValue::from_static(value);
        router.layer(SetResponseHeaderLayer::overriding(name, value))
    });
    if access.origins.is_empty() {
        return router;
    }
    let origins = access
        .origins
        .iter()
        .filter_map(|origin| origin.parse().ok());
    let readable = CorsLayer::new()
        .allow_origin(origins.collect::<Vec<HeaderValue>>())
        .allow_methods([Method::GET])
        .allow_headers([AUTHORIZATION])
        .expose_headers([ETAG, RETRY_AFTER]);
    router.layer(readable)
}
