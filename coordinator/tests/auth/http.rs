//! Calls every HTTP route with every role and without a token.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use kagetsu_coordinator::{Authenticator, Config, Role, Server, Tokens};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The roles that may call each route. A new route needs a row.
const TABLE: &[(&str, &str, &[Role])] = {
    use Role::{Admin, Analyse, Build, Read};
    const LOOK: &[Role] = &[Read, Analyse, Build, Admin];
    const CHANGE: &[Role] = &[Build, Admin];
    &[
        ("get", "/api/v1/book", LOOK),
        ("get", "/api/v1/books", LOOK),
        ("get", "/api/v1/build-settings", &Role::ALL),
        ("get", "/api/v1/games", LOOK),
        ("get", "/api/v1/jobs", LOOK),
        ("get", "/api/v1/jobs/{name}", LOOK),
        ("get", "/api/v1/jobs/{name}/events", LOOK),
        ("get", "/api/v1/jobs/{name}/history", LOOK),
        ("get", "/api/v1/openapi.json", &Role::ALL),
        ("get", "/api/v1/pick", LOOK),
        ("get", "/api/v1/position", LOOK),
        ("get", "/api/v1/priorities", LOOK),
        ("get", "/api/v1/statistics", LOOK),
        ("get", "/api/v1/status", LOOK),
        ("get", "/api/v1/suspects", LOOK),
        ("get", "/api/v1/transpositions", LOOK),
        ("get", "/api/v1/tree", LOOK),
        ("get", "/api/v1/workers", LOOK),
        ("get", "/healthz", &Role::ALL),
        ("get", "/readyz", &Role::ALL),
        ("post", "/api/v1/analyses", &[Analyse, Admin]),
        ("post", "/api/v1/jobs", CHANGE),
        ("post", "/api/v1/jobs/{name}/cancel", CHANGE),
        ("post", "/api/v1/jobs/{name}/pause", CHANGE),
        ("post", "/api/v1/jobs/{name}/priority", CHANGE),
        ("post", "/api/v1/jobs/{name}/resume", CHANGE),
    ]
};

/// Routes that need no token.
const OPEN: &[&str] = &[
    "/healthz",
    "/readyz",
    "/api/v1/build-settings",
    "/api/v1/openapi.json",
];

/// The origin of a page that may read answers.
const PAGE: &str = "https://example.org";

async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    token: Option<&str>,
) -> (StatusCode, Vec<String>, Value) {
    let mut request = Request::builder()
        .method(method.to_uppercase().as_str())
        .uri(path.replace("{name}", "none"));
    request = request
        .header("host", "127.0.0.1")
        .header("content-type", "application/json");
    if method == "get" {
        request = request.header("origin", PAGE);
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
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens.toml");
    let tokens = Role::ALL.map(|role| {
        let rate = Some(if role == Role::Work { 1 } else { 100_000 });
        (
            role,
            Tokens::change(&file, |tokens| {
                tokens.make(role.name(), &[role], rate, String::new())
            })
            .expect("made"),
        )
    });
    let guard = Authenticator::with_tokens(&file, 1, false).expect("sound");
    let shutdown = CancellationToken::new();
    let server = Server::start(&Config::default(), shutdown.clone())
        .expect("no book")
        .with_authenticator(guard);
    let router = server.http(kagetsu_http::AccessPolicy {
        may_change: true,
        ..kagetsu_http::AccessPolicy::default()
    });

    let description = ask(&router, "get", "/api/v1/openapi.json", None).await.2;
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
    let table: Vec<_> = TABLE
        .iter()
        .map(|(method, path, _)| ((*method).to_string(), (*path).to_string()))
        .collect();
    assert_eq!(table, described);

    for (method, path, roles) in TABLE {
        for (role, token) in tokens.iter().filter(|(role, _)| *role != Role::Work) {
            let (status, _, body) = ask(&router, method, path, Some(token)).await;
            let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
            assert_eq!(
                is_refused,
                !roles.contains(role),
                "{role} {method} {path}: {status} {body}"
            );
        }
        let (status, names, body) = ask(&router, method, path, None).await;
        let is_open = OPEN.contains(path);
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
    let work = &tokens[3].1;
    assert_eq!(
        ask(&router, "get", "/api/v1/jobs", Some(work)).await.0,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        ask(&router, "get", "/api/v1/erase", Some(work)).await.0,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        ask(&router, "delete", "/api/v1/jobs/none", Some(&tokens[2].1))
            .await
            .0,
        StatusCode::FORBIDDEN
    );
    shutdown.cancel();
}

#[tokio::test]
async fn excessive_http_requests_get_a_time_to_retry() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens.toml");
    let token = Tokens::change(&file, |tokens| {
        tokens.make("t", &[Role::Read], None, String::new())
    })
    .expect("made");
    let shutdown = CancellationToken::new();
    let guard = Authenticator::with_tokens(&file, 1, false).expect("sound");
    let server = Server::start(&Config::default(), shutdown.clone())
        .expect("no book")
        .with_authenticator(guard);
    let router = server.http(kagetsu_http::AccessPolicy {
        origins: vec![PAGE.into()],
        ..kagetsu_http::AccessPolicy::default()
    });
    let refused = loop {
        let answer = ask(&router, "get", "/api/v1/workers", Some(&token)).await;
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
    shutdown.cancel();
}

#[tokio::test]
async fn unknown_tokens_are_limited_by_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens.toml");
    let valid = Tokens::change(&file, |tokens| {
        tokens.make("t", &[Role::Read], None, String::new())
    })
    .expect("made");
    let shutdown = CancellationToken::new();
    let authenticator = Authenticator::with_tokens(&file, 100, false).expect("sound");
    let server = Server::start(&Config::default(), shutdown.clone())
        .expect("no book")
        .with_authenticator(authenticator);
    let router = server.http(kagetsu_http::AccessPolicy::default());
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
    assert_eq!(ask_from(attacker, &valid).await, StatusCode::OK);
    assert_eq!(ask_from(other, "kagetsu_0").await, StatusCode::UNAUTHORIZED);
    shutdown.cancel();
}
