use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};
use kagetsu_proto::PerIpLimiter;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::error::{ApiError, MAX_BODY_BYTES};
use crate::handlers::{analyses, books, builds, status, transpositions, tree, workers};
use crate::job_history::JobHistory;
use crate::middleware::{check_access, measure, revalidate};
use crate::page;
use crate::services::Services;
use crate::state::AppState;

/// Streams of a job's events open at a time, and analyses: of each one address has at most half.
const MAX_EVENT_STREAMS: usize = 128;
const MAX_ANALYSES: usize = 64;

/// One row of the API.
struct Route<S> {
    path: &'static str,
    handler: MethodRouter<Arc<AppState<S>>>,
    /// Whether the answer holds as long as the book does not change.
    is_of_the_book: bool,
}

fn about_the_book<S>(path: &'static str, handler: MethodRouter<Arc<AppState<S>>>) -> Route<S> {
    Route {
        path,
        handler,
        is_of_the_book: true,
    }
}

fn about_now<S>(path: &'static str, handler: MethodRouter<Arc<AppState<S>>>) -> Route<S> {
    Route {
        path,
        handler,
        is_of_the_book: false,
    }
}

fn routes<S: Services>() -> Vec<Route<S>> {
    vec![
        about_the_book("/api/v1/book", get(books::book::<S>)),
        about_the_book("/api/v1/tree", get(tree::tree::<S>)),
        about_the_book(
            "/api/v1/transpositions",
            get(transpositions::transpositions::<S>),
        ),
        about_now("/api/v1/pick", get(books::pick::<S>)),
        about_now("/api/v1/position", get(books::position)),
        about_now("/api/v1/status", get(status::status::<S>)),
        about_now(
            "/api/v1/jobs",
            get(builds::list::<S>).post(builds::start::<S>),
        ),
        about_now("/api/v1/jobs/{name}", get(builds::get::<S>)),
        about_now("/api/v1/jobs/{name}/history", get(builds::history::<S>)),
        about_now("/api/v1/jobs/{name}/events", get(builds::events::<S>)),
        about_now("/api/v1/jobs/{name}/pause", post(builds::pause::<S>)),
        about_now("/api/v1/jobs/{name}/resume", post(builds::resume::<S>)),
        about_now("/api/v1/jobs/{name}/cancel", post(builds::cancel::<S>)),
        about_now(
            "/api/v1/jobs/{name}/priority",
            post(builds::prioritize::<S>),
        ),
        about_now("/api/v1/workers", get(workers::list::<S>)),
        about_now("/api/v1/analyses", post(analyses::analyze::<S>)),
        about_now("/api/v1/openapi.json", get(status::description)),
        about_now("/healthz", get(status::health)),
        about_now("/readyz", get(status::ready::<S>)),
    ]
}

/// All that is behind the door, to be [headed](crate::headed) with the same access. What is learned about the jobs of the services is followed until the shutdown; must be called in a tokio
/// runtime.
pub fn router<S: Services>(services: S, access: Access, shutdown: CancellationToken) -> Router {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let app = Arc::new(AppState {
        services,
        access,
        history: JobHistory::default(),
        listeners: PerIpLimiter::new(MAX_EVENT_STREAMS),
        analyses: PerIpLimiter::new(MAX_ANALYSES),
        shutdown,
        instance: now.as_millis() as u64,
    });
    tokio::spawn(Arc::clone(&app).record_history());
    let mut router = Router::new();
    for Route {
        path,
        handler,
        is_of_the_book,
    } in routes()
    {
        let fresh = middleware::from_fn_with_state(Arc::clone(&app), revalidate::<S>);
        let timed = middleware::from_fn_with_state((Arc::clone(&app), path), measure::<S>);
        let handler = if is_of_the_book {
            handler.layer(fresh)
        } else {
            handler
        };
        router = router.route(path, handler.layer(timed));
    }
    for path in page::paths() {
        router = router.route(path, get(asset));
    }
    router
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            check_access::<S>,
        ))
        .with_state(app)
}

async fn asset(uri: Uri) -> Response {
    page::file(uri.path()).unwrap_or_else(|| refuse_route(&uri).into_response())
}

fn refuse_route(uri: &Uri) -> ApiError {
    let path = uri.path();
    let message =
        format!("there is nothing at {path}; /api/v1/openapi.json describes what there is");
    ApiError::new(StatusCode::NOT_FOUND, "no_such_route", message)
}

async fn no_route(uri: Uri) -> ApiError {
    refuse_route(&uri)
}

async fn no_method(method: Method, uri: Uri) -> ApiError {
    let message = format!(
        "{} does not take {method}; see /api/v1/openapi.json",
        uri.path()
    );
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use axum::body::Body;
    use axum::http::Request;
    use kagetsu_proto::v1::books_server::Books;
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;
    use crate::Unimplemented;

    fn description() -> Value {
        serde_json::from_str(include_str!("../openapi.json")).expect("JSON")
    }

    /// Every `$ref` of the description leads somewhere.
    fn check_references(whole: &Value, part: &Value) {
        match part {
            Value::Object(map) => {
                if let Some(name) = map.get("$ref") {
                    let path = name
                        .as_str()
                        .and_then(|name| name.strip_prefix('#'))
                        .expect("a reference");
                    assert!(whole.pointer(path).is_some(), "{path}");
                }
                map.values().for_each(|part| check_references(whole, part));
            }
            Value::Array(list) => list.iter().for_each(|part| check_references(whole, part)),
            _ => {}
        }
    }

    #[test]
    fn the_description_describes_every_route_and_no_other() {
        let description = description();
        check_references(&description, &description);
        let described = description["paths"].as_object().expect("paths");
        let mut described: Vec<&str> = described.keys().map(String::as_str).collect();
        let mut built: Vec<&str> = routes::<Empty>().iter().map(|route| route.path).collect();
        described.sort_unstable();
        built.sort_unstable();
        assert_eq!(described, built);
    }

    /// A server of nothing.
    struct Empty;

    #[tokio::test]
    async fn the_description_has_the_methods_of_every_route() {
        let description = description();
        let access = Access {
            may_change: true,
            ..Access::default()
        };
        let router = router(Empty, access, CancellationToken::new());
        let mut taken: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for path in description["paths"].as_object().expect("paths").keys() {
            for method in ["get", "post", "put", "delete", "patch"] {
                let request = Request::builder()
                    .method(method.to_uppercase().as_str())
                    .uri(path.replace("{name}", "x"))
                    .header("content-type", "application/json");
                let response = router
                    .clone()
                    .oneshot(request.body(Body::empty()).expect("a request"))
                    .await;
                if response.expect("infallible").status() != StatusCode::METHOD_NOT_ALLOWED {
                    taken.entry(path.clone()).or_default().push(method);
                }
            }
        }
        for (path, methods) in taken {
            let described: Vec<&String> = description["paths"][&path]
                .as_object()
                .expect("methods")
                .keys()
                .collect();
            assert_eq!(described, methods, "{path}");
        }
    }

    impl Services for Empty {
        type Analysis = Unimplemented;
        type Books = Unimplemented;
        type Builds = Unimplemented;
        type Workers = Unimplemented;

        fn analysis(&self) -> &Unimplemented {
            &Unimplemented
        }

        fn books(&self) -> &Unimplemented {
            &Unimplemented
        }

        fn builds(&self) -> &Unimplemented {
            &Unimplemented
        }

        fn workers(&self) -> &Unimplemented {
            &Unimplemented
        }

        fn epoch(&self) -> Option<u64> {
            None
        }

        fn positions(&self) -> u64 {
            0
        }

        fn is_cluster(&self) -> bool {
            false
        }
    }

    #[tonic::async_trait]
    impl Books for Unimplemented {
        type ExportStream = tokio_stream::Empty<Result<kagetsu_proto::v1::Found, tonic::Status>>;

        async fn lookup(
            &self,
            _: tonic::Request<kagetsu_proto::v1::Position>,
        ) -> Result<tonic::Response<kagetsu_proto::v1::Found>, tonic::Status> {
            Err(tonic::Status::not_found("no book"))
        }

        async fn lookup_many(
            &self,
            _: tonic::Request<kagetsu_proto::v1::LookupManyRequest>,
        ) -> Result<tonic::Response<kagetsu_proto::v1::LookupManyResponse>, tonic::Status> {
            Err(tonic::Status::not_found("no book"))
        }

        async fn pick(
            &self,
            _: tonic::Request<kagetsu_proto::v1::PickRequest>,
        ) -> Result<tonic::Response<kagetsu_proto::v1::Picked>, tonic::Status> {
            Err(tonic::Status::not_found("no book"))
        }

        async fn export(
            &self,
            _: tonic::Request<kagetsu_proto::v1::ExportRequest>,
        ) -> Result<tonic::Response<Self::ExportStream>, tonic::Status> {
            Err(tonic::Status::not_found("no book"))
        }
    }
}
