//! Calls every HTTP route with every role and without a token.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use kagetsu_coordinator::{Config, Role};
use kagetsu_reader::VIEWS;
use serde_json::Value;
use tower::ServiceExt;

use crate::world::{Cluster, PAGE_ORIGIN, TokenFile};

/// The roles that may call each route besides those of the views. A new route needs a row.
const TABLE: &[(&str, &str, &[Role])] = {
    use Role::{Admin, Analyse, Build, Read};
    const LOOK: &[Role] = &[Read, Analyse, Build, Admin];
    const CHANGE: &[Role] = &[Build, Admin];
    &[
        ("get", "/api/v1/build-settings", &Role::ALL),
        ("get", "/api/v1/jobs", LOOK),
        ("get", "/api/v1/jobs/{name}", LOOK),
        ("get", "/api/v1/jobs/{name}/events", LOOK),
        ("get", "/api/v1/jobs/{name}/history", LOOK),
        ("get", "/api/v1/openapi.json", &Role::ALL),
        ("get", "/api/v1/position", LOOK),
        ("get", "/api/v1/status", LOOK),
        ("get", "/api/v1/workers", LOOK),
        ("get", "/healthz", &Role::ALL),
        ("get", "/readyz", &Role::ALL),
        ("post", "/api/v1/analyses", &[Analyse, Admin]),
        ("post", "/api/v1/annotations", CHANGE),
        ("post", "/api/v1/jobs", CHANGE),
        ("post", "/api/v1/jobs/{name}/priority", CHANGE),
        ("post", "/api/v1/jobs/{name}/{change}", CHANGE),
    ]
};

/// Returns the roles that may call each route, by method and path.
fn table() -> Vec<(&'static str, String, &'static [Role])> {
    let views = VIEWS.iter().map(|view| {
        let roles: &[Role] = &[Role::Read, Role::Analyse, Role::Build, Role::Admin];
        ("get", format!("/api/v1/{}", view.name), roles)
    });
    let others = TABLE.iter();
    let others = others.map(|(method, path, roles)| (*method, (*path).to_string(), *roles));
    let mut table: Vec<_> = views.chain(others).collect();
    table.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    table
}

/// Routes that need no token.
const OPEN: &[&str] = &[
    "/healthz",
    "/readyz",
    "/api/v1/build-settings",
    "/api/v1/openapi.json",
];

async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    token: Option<&str>,
) -> (StatusCode, Vec<String>, Value) {
    let mut request = Request::builder()
        .method(method.to_uppercase().as_str())
        .uri(path.replace("{name}", "none").replace("{change}", "pause"));
    request = request
        .header("host", "127.0.0.1")
        .header("content-type", "application/json");
    if method == "get" {
        request = request.header("origin", PAGE_ORIGIN);
    }
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = router
        .clone()
        .oneshot(request.body(Body::empty()).expect("a request"))
        .await
        .expect("an answer");
    let (status, names) = (
        answer.status(),
        answer.headers().keys().map(ToString::to_string).collect(),
    );
    let body = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
    (
        status,
        names,
        serde_json::from_slice(&body).unwrap_or_default(),
    )
}

#[tokio::test]
async fn each_role_calls_only_its_routes() {
    let roles = Role::ALL.map(|role| [role]);
    // A request beyond a role's permissions is refused as such at any rate.
    let rate = |role| (role == Role::Work).then_some(1);
    let tokens: Vec<_> = roles
        .iter()
        .map(|role| (role[0].name(), &role[..], rate(role[0])))
        .collect();
    let tokens = TokenFile::new(100_000, &tokens);
    let cluster = Cluster::guarded(&Config::default(), &tokens);
    let router = &cluster.http;

    let description = ask(router, "get", "/api/v1/openapi.json", None).await.2;
    let mut described = Vec::new();
    for (path, methods) in description["paths"].as_object().expect("paths") {
        described.extend(
            methods
                .as_object()
                .expect("methods")
                .keys()
                .map(|m| (m.clone(), path.clone())),
        );
    }
    described.sort();
    let table = table();
    let paths = table.iter();
    let paths = paths.map(|(method, path, _)| ((*method).to_string(), path.clone()));
    assert_eq!(paths.collect::<Vec<_>>(), described);

    for (method, path, roles) in &table {
        for role in Role::ALL.iter().filter(|role| **role != Role::Work) {
            let token = tokens.secret(role.name());
            let (status, _, body) = ask(router, method, path, Some(token)).await;
            let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
            assert_eq!(
                is_refused,
                !roles.contains(role),
                "{role} {method} {path}: {status} {body}"
            );
        }
        let (status, names, body) = ask(router, method, path, None).await;
        let is_open = OPEN.contains(&&**path);
        assert_eq!(
            status != StatusCode::UNAUTHORIZED,
            is_open,
            "no token, {method} {path}: {status}"
        );
        if !is_open {
            assert_eq!(body["error"]["code"], "no_token", "{body}");
            assert!(names.contains(&"www-authenticate".to_string()), "{names:?}");
        }
    }
    let work = tokens.secret("work");
    assert_eq!(
        ask(router, "get", "/api/v1/jobs", Some(work)).await.0,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        ask(router, "get", "/api/v1/erase", Some(work)).await.0,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        ask(
            router,
            "delete",
            "/api/v1/jobs/none",
            Some(tokens.secret("build"))
        )
        .await
        .0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    cluster.end().await;
}

#[tokio::test]
async fn excessive_http_requests_get_a_time_to_retry() {
    let tokens = TokenFile::new(1, &[("t", &[Role::Read], None)]);
    let cluster = Cluster::guarded(&Config::default(), &tokens);
    let router = &cluster.http;
    let refused = loop {
        let answer = ask(router, "get", "/api/v1/workers", Some(tokens.secret("t"))).await;
        if answer.0 != StatusCode::OK {
            break answer;
        }
    };
    assert_eq!(
        (refused.0, &refused.2["error"]["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &"rate".into())
    );
    for header in [
        "retry-after",
        "content-security-policy",
        "access-control-allow-origin",
    ] {
        assert!(
            refused.1.contains(&header.to_string()),
            "{header}: {refused:?}"
        );
    }
    cluster.end().await;
}

#[tokio::test]
async fn unknown_tokens_are_limited_by_address() {
    let tokens = TokenFile::new(100, &[("t", &[Role::Read], None)]);
    let cluster = Cluster::guarded(&Config::default(), &tokens);
    let router = &cluster.http;
    let ask_from = async |address: [u8; 4], token: &str| {
        let request = Request::builder()
            .uri("/api/v1/workers")
            .header("authorization", format!("Bearer {token}"))
            .extension(kagetsu_http::ClientAddress((address, 5_000).into()));
        let request = request.body(Body::empty()).expect("a request");
        let answer = router.clone().oneshot(request).await.expect("an answer");
        answer.status()
    };
    let (attacker, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let mut rejected = 0;
    while ask_from(attacker, "kagetsu_0").await == StatusCode::UNAUTHORIZED {
        rejected += 1;
        assert!(rejected < 10_000, "unknown tokens are not limited");
    }
    let limited = ask_from(attacker, "kagetsu_0").await;
    assert_eq!(limited, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask_from(attacker, tokens.secret("t")).await, StatusCode::OK);
    assert_eq!(ask_from(other, "kagetsu_0").await, StatusCode::UNAUTHORIZED);
    cluster.end().await;
}
