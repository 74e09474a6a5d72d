//! The same for HTTP: every route of the description, asked with every role and without a token.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use kagetsu_coordinator::{Config, Guard, Role, Server, Tokens};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Who may ask what; a new route needs a row.
const TABLE: &[(&str, &str, &[Role])] = {
    use Role::{Admin, Analyse, Build, Read};
    const LOOK: &[Role] = &[Read, Analyse, Build, Admin];
    const CHANGE: &[Role] = &[Build, Admin];
    &[
        ("get", "/api/v1/book", LOOK),
        ("get", "/api/v1/jobs", LOOK),
        ("get", "/api/v1/jobs/{name}", LOOK),
        ("get", "/api/v1/jobs/{name}/events", LOOK),
        ("get", "/api/v1/jobs/{name}/history", LOOK),
        ("get", "/api/v1/openapi.json", &Role::ALL),
        ("get", "/api/v1/pick", LOOK),
        ("get", "/api/v1/position", LOOK),
        ("get", "/api/v1/status", LOOK),
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

/// Routes that need no token at all.
const OPEN: &[&str] = &["/healthz", "/readyz", "/api/v1/openapi.json"];

/// A page that may read what is answered.
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
async fn no_role_does_what_is_anothers_over_http() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens.toml");
    let tokens = Role::ALL.map(|role| {
        let rate = Some(if role == Role::Work { 1 } else { 100_000 });
        (
            role,
            Tokens::change(&file, |tokens| {
                tokens.make(role.word(), &[role], rate, String::new())
            })
            .expect("made"),
        )
    });
    let guard = Guard::with_tokens(&file, 1, false).expect("sound");
    let shutdown = CancellationToken::new();
    let server = Server::start(&Config::default(), shutdown.clone())
        .expect("no book")
        .behind(guard);
    let router = server.door(kagetsu_http::Access {
        may_change: true,
        ..kagetsu_http::Access::default()
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
            "nobody {method} {path}: {status}"
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
async fn who_asks_too_often_over_http_hears_when_to_come_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tokens.toml");
    let token = Tokens::change(&file, |tokens| {
        tokens.make("t", &[Role::Read], None, String::new())
    })
    .expect("made");
    let shutdown = CancellationToken::new();
    let guard = Guard::with_tokens(&file, 1, false).expect("sound");
    let server = Server::start(&Config::default(), shutdown.clone())
        .expect("no book")
        .behind(guard);
    let router = server.door(kagetsu_http::Access {
        origins: vec![PAGE.into()],
        ..kagetsu_http::Access::default()
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
