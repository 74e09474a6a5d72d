use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use kagetsu_http::{Client, Rights};
use kagetsu_proto::LogThrottle;
use serde_json::json;

use super::gate::{Guard, Refusal};
use super::layer::{End, Lasting};
use super::role::Need;

/// Puts a guard before HTTP.
pub(crate) fn guard_http(router: Router, guard: &Arc<Guard>) -> Router {
    if guard.is_open() {
        return router;
    }
    router.layer(from_fn_with_state(
        Gate {
            guard: Arc::clone(guard),
            told: Arc::default(),
        },
        ask,
    ))
}

/// The guard, and what it says of those that it sends away.
#[derive(Clone)]
struct Gate {
    guard: Arc<Guard>,
    told: Arc<LogThrottle>,
}

impl Gate {
    fn tell(&self, now: Instant, request: &Request, refusal: &Refusal) {
        let Some(others) = self.told.allow(now) else {
            return;
        };
        let client = request.extensions().get::<Client>();
        let client = client.map_or_else(
            || "unknown".to_string(),
            |Client(client)| client.to_string(),
        );
        let (method, path) = (request.method().as_str(), request.uri().path());
        tracing::warn!(
            client,
            method,
            path,
            others,
            reason = refusal.word(),
            "a request is refused: {refusal}"
        );
    }
}

async fn ask(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let need = Need::of_http(request.method().as_str(), request.uri().path());
    let shown = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let now = Instant::now();
    match gate.guard.admit(now, shown, need) {
        Err(refusal) => {
            gate.tell(now, &request, &refusal);
            refused(&refusal)
        }
        Ok(pass) => {
            request.headers_mut().remove(AUTHORIZATION);
            let (analyse, build) = (pass.may(Need::Analyse), pass.may(Need::Build));
            request.extensions_mut().insert(Rights {
                analyse,
                build,
                by_token: true,
            });
            let answer = next.run(request).await;
            answer.map(|body| {
                Body::new(Lasting::new(
                    tonic::body::Body::new(body),
                    &pass.revoked,
                    End::Silence,
                ))
            })
        }
    }
}

/// In the form of every refusal of the API.
fn refused(refusal: &Refusal) -> Response {
    let code = StatusCode::from_u16(refusal.http_code()).unwrap_or(StatusCode::FORBIDDEN);
    let body = json!({"error": {"code": refusal.word(), "message": refusal.to_string()}});
    let mut answer = (code, Json(body)).into_response();
    if code == StatusCode::UNAUTHORIZED {
        answer
            .headers_mut()
            .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(wait) = refusal.retry_after() {
        let seconds = u64::try_from(wait.as_millis())
            .unwrap_or(u64::MAX)
            .div_ceil(1_000)
            .max(1);
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer
}
