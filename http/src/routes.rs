use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::handler::Handler;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use axum::{Router, middleware};
use kagetsu_proto::PerIpLimiter;
use tokio_util::sync::CancellationToken;

use crate::access::AccessPolicy;
use crate::error::{ApiError, MAX_BODY_BYTES};
use crate::extract::Caller;
use crate::handlers::{analyses, annotations, builds, position, status, views, workers};
use crate::job_history::JobHistory;
use crate::middleware::{check_change, check_host, measure, revalidate};
use crate::services::{Backend, Services};
use crate::state::AppState;
use crate::{openapi, page};

/// Open streams of job events; one address may have half of them.
const MAX_EVENT_STREAMS: usize = 128;
/// Open analyses; one address may have half of them.
const MAX_ANALYSES: usize = 64;

/// The target of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Something that is no secret: the page, its description, whether the server is alive.
    Public,
    /// The same as the rpc of this path.
    Rpc(&'static str),
}

/// A method of a path.
struct Route {
    method: Method,
    path: &'static str,
    target: Target,
    handler: MethodRouter<Arc<AppState>>,
}

impl Route {
    fn new<H, T>(method: Method, path: &'static str, target: Target, handler: H) -> Self
    where
        H: Handler<T, Arc<AppState>>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(method.clone()).expect("a standard method");
        Self {
            method,
            path,
            target,
            handler: on(filter, handler),
        }
    }
}

/// The target of the views, whose answers stay valid until the book changes.
const READ: Target = Target::Rpc("/kagetsu.v1.Books/Read");

/// The routes of the API. Each names the rpc that it stands for, whose permission it needs.
fn routes() -> Vec<Route> {
    use Target::{Public, Rpc};
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const LOOKUP: Target = Rpc("/kagetsu.v1.Books/Lookup");
    const LIST: Target = Rpc("/kagetsu.v1.Builds/List");
    const GET_JOB: Target = Rpc("/kagetsu.v1.Builds/Get");
    const WATCH: Target = Rpc("/kagetsu.v1.Builds/Watch");
    const START: Target = Rpc("/kagetsu.v1.Builds/Start");
    // A caller that may pause a job may resume and cancel it.
    const PAUSE: Target = Rpc("/kagetsu.v1.Builds/Pause");
    const PRIORITIZE: Target = Rpc("/kagetsu.v1.Builds/Prioritize");
    const ANNOTATE: Target = Rpc("/kagetsu.v1.Books/Annotate");
    const WORKERS: Target = Rpc("/kagetsu.v1.Workers/List");
    const ANALYZE: Target = Rpc("/kagetsu.v1.Analysis/Analyze");
    let views = views::routes().map(|(view, path)| {
        let read = move |State(app): State<Arc<AppState>>, caller: Caller, query: RawQuery| {
            views::read(view, app, caller, query)
        };
        Route::new(GET, path, READ, read)
    });
    let others = vec![
        Route::new(POST, "/api/v1/annotations", ANNOTATE, annotations::write),
        Route::new(GET, "/api/v1/position", LOOKUP, position::position),
        Route::new(GET, "/api/v1/status", LOOKUP, status::status),
        Route::new(GET, "/api/v1/jobs", LIST, builds::list),
        Route::new(POST, "/api/v1/jobs", START, builds::start),
        Route::new(GET, "/api/v1/jobs/{name}", GET_JOB, builds::get),
        Route::new(GET, "/api/v1/jobs/{name}/history", GET_JOB, builds::history),
        Route::new(GET, "/api/v1/jobs/{name}/events", WATCH, builds::events),
        Route::new(
            POST,
            "/api/v1/jobs/{name}/priority",
            PRIORITIZE,
            builds::prioritize,
        ),
        Route::new(POST, "/api/v1/jobs/{name}/{change}", PAUSE, builds::change),
        Route::new(GET, "/api/v1/workers", WORKERS, workers::list),
        Route::new(POST, "/api/v1/analyses", ANALYZE, analyses::analyze),
        Route::new(
            GET,
            "/api/v1/build-settings",
            Public,
            builds::build_settings,
        ),
        Route::new(GET, "/api/v1/openapi.json", Public, openapi::description),
        Route::new(GET, "/healthz", Public, status::health),
        Route::new(GET, "/readyz", Public, status::ready),
    ];
    views.chain(others).collect()
}

/// Returns the target of a request; `None` if there is nothing at the path. `HEAD` has the target
/// of `GET`, and a method that the path does not take has the target of one that it takes.
/// `OPTIONS` is public: a browser sends it without a token before a request of its page.
#[must_use]
pub fn target(method: &Method, path: &str) -> Option<Target> {
    static TARGETS: LazyLock<Vec<(Method, &'static str, Target)>> = LazyLock::new(|| {
        let routes = routes().into_iter();
        routes
            .map(|route| (route.method, route.path, route.target))
            .collect()
    });
    let method = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let is_page = method == Method::GET && page::page_files().any(|(asset, _)| asset == path);
    let is_page = is_page || path.starts_with(page::PROGRAM);
    if method == Method::OPTIONS || is_page {
        return Some(Target::Public);
    }
    let mut routes = TARGETS
        .iter()
        .filter(|(_, pattern, _)| matches(pattern, path));
    let first = routes.clone().next();
    let route = routes.find(|(known, ..)| known == method).or(first);
    route.map(|(_, _, target)| *target)
}

/// Whether a path has the segments of a pattern; `{name}` matches any segment.
fn matches(pattern: &str, path: &str) -> bool {
    let (mut patterns, mut segments) = (pattern.split('/'), path.split('/'));
    loop {
        match (patterns.next(), segments.next()) {
            (None, None) => return true,
            (Some(pattern), Some(segment)) if pattern == segment || pattern.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// The routes of the API and of the page, to be wrapped by [`with_browser_headers`] with the same
/// access. Records the history of the jobs until the shutdown; must be called in a tokio runtime.
///
/// [`with_browser_headers`]: crate::with_browser_headers
pub fn router(backend: Backend, access: AccessPolicy, shutdown: CancellationToken) -> Router {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let app = Arc::new(AppState {
        services: Services(backend.services.clone()),
        server: backend.info,
        access,
        history: JobHistory::default(),
        listeners: PerIpLimiter::new(MAX_EVENT_STREAMS),
        analyses: PerIpLimiter::new(MAX_ANALYSES),
        shutdown,
        program: program(),
        instance: now.as_millis() as u64,
    });
    if app.has_jobs() {
        tokio::spawn(Arc::clone(&app).record_history(backend.internal));
    }
    let mut router = Router::new();
    for route in routes() {
        let mut handler = route.handler;
        if route.target == READ {
            handler = handler.layer(middleware::from_fn_with_state(Arc::clone(&app), revalidate));
        }
        let change = middleware::from_fn_with_state(Arc::clone(&app), check_change);
        handler = handler.route_layer(change);
        let state = (Arc::clone(&app), route.path);
        handler = handler.layer(middleware::from_fn_with_state(state, measure));
        router = router.route(route.path, handler);
    }
    for (path, _) in page::page_files() {
        router = router.route(path, get(asset));
    }
    router
        .route(&format!("{}{{*file}}", page::PROGRAM), get(program_file))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), check_host))
        .with_state(app)
}

async fn asset(uri: Uri) -> Response {
    page::file(uri.path()).unwrap_or_else(|| ApiError::no_route(&uri).into_response())
}

/// Reads the files of the program for browsers that lie beside this one.
fn program() -> BTreeMap<String, Bytes> {
    let files = page::program_files(&page::program_for_browsers()).into_iter();
    let read = files.filter_map(|(name, file)| {
        let bytes = std::fs::read(file).ok()?;
        Some((format!("{}{name}", page::PROGRAM), Bytes::from(bytes)))
    });
    read.collect()
}

async fn program_file(State(app): State<Arc<AppState>>, uri: Uri) -> Response {
    let kind = match uri.path().ends_with(".wasm") {
        true => "application/wasm",
        false => "application/octet-stream",
    };
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")];
    match app.program.get(uri.path()) {
        Some(program) => (headers, program.clone()).into_response(),
        None => ApiError::no_route(&uri).into_response(),
    }
}

async fn no_route(uri: Uri) -> ApiError {
    ApiError::no_route(&uri)
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
    use std::collections::{BTreeMap, BTreeSet};

    use axum::body::Body;
    use axum::http::Request;
    use kagetsu_proto::DESCRIPTORS;
    use prost::Message;
    use prost_types::{FileDescriptorSet, MethodDescriptorProto};
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;
    use crate::services::ServerInfo;

    fn description() -> Value {
        serde_json::to_value(openapi::describe()).expect("JSON")
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
    fn description_has_every_route_and_no_other() {
        let description = description();
        check_references(&description, &description);
        let described = description["paths"].as_object().expect("paths");
        let mut described: Vec<&str> = described.keys().map(String::as_str).collect();
        let mut built: Vec<&str> = routes().iter().map(|route| route.path).collect();
        described.sort_unstable();
        built.sort_unstable();
        built.dedup();
        assert_eq!(described, built);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let description = description();
        let mut seen = BTreeSet::new();
        for (path, methods) in description["paths"].as_object().expect("paths") {
            for operation in methods.as_object().expect("methods").values() {
                let name = operation["operationId"].as_str().expect("a name");
                assert!(seen.insert(name.to_string()), "{path}: {name}");
            }
        }
    }

    #[test]
    fn limits_of_the_options_are_described() {
        let description = description();
        let parameters = &description["paths"]["/api/v1/tree"]["get"]["parameters"];
        let plies = parameters.as_array().expect("parameters").iter();
        let plies = plies.clone().find(|parameter| parameter["name"] == "plies");
        let plies = plies.expect("an option");
        let schema = &plies["schema"];
        assert_eq!(
            (&schema["minimum"], &schema["maximum"], &schema["default"]),
            (&1.into(), &100.into(), &4.into()),
            "{plies}"
        );
        assert!(plies["description"].is_string(), "{plies}");
    }

    /// A server without services.
    struct Empty;

    impl ServerInfo for Empty {
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

    fn empty() -> Backend {
        Backend {
            services: Router::new(),
            info: Arc::new(Empty),
            internal: Caller::default(),
        }
    }

    #[test]
    fn every_route_stands_for_an_rpc_that_exists() {
        let descriptors = FileDescriptorSet::decode(DESCRIPTORS).expect("our own");
        let services = descriptors.file.iter().flat_map(|file| &file.service);
        let rpcs: BTreeSet<String> = services
            .flat_map(|service| {
                let path = |rpc: &MethodDescriptorProto| {
                    format!("/kagetsu.v1.{}/{}", service.name(), rpc.name())
                };
                service.method.iter().map(path)
            })
            .collect();
        for route in routes() {
            if let Target::Rpc(rpc) = route.target {
                assert!(rpcs.contains(rpc), "{}: {rpc}", route.path);
            }
        }
    }

    #[test]
    fn target_follows_the_routes() {
        let rpc = |rpc| Some(Target::Rpc(rpc));
        let open = Some(Target::Public);
        let rows = [
            (Method::GET, "/api/v1/jobs/x", rpc("/kagetsu.v1.Builds/Get")),
            (Method::HEAD, "/api/v1/jobs", rpc("/kagetsu.v1.Builds/List")),
            (
                Method::POST,
                "/api/v1/jobs",
                rpc("/kagetsu.v1.Builds/Start"),
            ),
            (Method::OPTIONS, "/api/v1/jobs", open),
            (Method::GET, "/", open),
            (Method::GET, "/healthz", open),
            (
                Method::DELETE,
                "/api/v1/jobs/x",
                rpc("/kagetsu.v1.Builds/Get"),
            ),
            (Method::GET, "/api/v1/jobs/x/y/z", None),
            (Method::GET, "/page/secret", None),
        ];
        for (method, path, expected) in rows {
            assert_eq!(target(&method, path), expected, "{method} {path}");
        }
    }

    #[tokio::test]
    async fn description_has_the_methods_of_every_route() {
        let description = description();
        let access = AccessPolicy {
            may_change: true,
            ..AccessPolicy::default()
        };
        let router = router(empty(), access, CancellationToken::new());
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
}
