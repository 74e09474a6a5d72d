//! The headers that tell a browser what it may do with an answer.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use crate::access::AccessPolicy;

/// The page loads from its own server only, and no other page may frame it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                              img-src 'self' data:; connect-src 'self'; manifest-src 'self'; \
                              base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Adds the headers to every response of a router. It must be the outermost layer, so that errors
/// have the headers too.
pub fn with_browser_headers(router: Router, access: AccessPolicy) -> Router {
    router.layer(from_fn_with_state(Arc::new(access), add_headers))
}

/// The headers of a response that [`with_browser_headers`] has added.
pub(crate) fn browser_headers(
    headers: &HeaderMap,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> + '_ {
    const NAMES: [HeaderName; 8] = [
        CONTENT_SECURITY_POLICY,
        X_CONTENT_TYPE_OPTIONS,
        REFERRER_POLICY,
        ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_ALLOW_METHODS,
        ACCESS_CONTROL_ALLOW_HEADERS,
        ACCESS_CONTROL_EXPOSE_HEADERS,
        VARY,
    ];
    NAMES
        .into_iter()
        .filter_map(|name| Some((name.clone(), headers.get(name)?.clone())))
}

async fn add_headers(
    State(access): State<Arc<AccessPolicy>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = access.allowed(request.headers());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CONTENT_POLICY),
    );
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET"),
        );
        headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static("authorization"),
        );
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("etag, retry-after"),
        );
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    response
}
