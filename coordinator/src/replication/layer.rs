use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use http::HeaderValue;
use kagetsu_proto::LEADER_HEADER;
use tonic::Status;

use super::leadership::Leadership;
use crate::auth::Permission;

/// Answers requests that change something, or that need workers, with `UNAVAILABLE` while this
/// coordinator follows. All its responses name the leader's address then.
pub(crate) fn for_leader(router: Router, leadership: Leadership) -> Router {
    router.layer(from_fn_with_state(leadership, lead))
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

async fn lead(State(leadership): State<Leadership>, request: Request, next: Next) -> Response {
    if leadership.is_leader() {
        return next.run(request).await;
    }
    let address = leadership.leader();
    let address = address.and_then(|address| HeaderValue::from_str(&address).ok());
    let mut response = if needs_leader(request.uri().path()) {
        Status::unavailable(leadership.refusal()).into_http()
    } else {
        next.run(request).await
    };
    if let Some(address) = address {
        response.headers_mut().insert(LEADER_HEADER, address);
    }
    response
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
