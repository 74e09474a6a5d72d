//! The API before a book of one position.

mod server;

use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use kagetsu_http::AccessPolicy;
use serde_json::Value;
use tower::ServiceExt;

use crate::server::start;

fn local() -> AccessPolicy {
    AccessPolicy::at("127.0.0.1:0".parse().expect("an address"))
}

async fn ask(
    api: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(Body::from(body.to_string()))
        .expect("a request");
    api.clone().oneshot(request).await.expect("infallible")
}

async fn json(response: Response<Body>) -> Value {
    let bytes = to_bytes(response.into_body(), 1 << 24)
        .await
        .expect("a body");
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&bytes)))
}

async fn get(api: &Router, path: &str) -> Value {
    json(ask(api, "GET", &format!("/api/v1/{path}"), &[], "").await).await
}

#[tokio::test]
async fn overview_names_roots_with_their_values() {
    let (api, _) = start(local());
    let books = get(&api, "books").await;
    let held = &books["variants"][0];
    assert_eq!(held["variant"], "freestyle-15");
    let root = &held["roots"][0];
    assert_eq!(root["moves"], serde_json::json!(["h8"]), "{root}");
    assert_eq!((&root["best"], &root["score"]), (&"i9".into(), &12.into()));
    assert_eq!(
        (&root["side"], &root["positions"]),
        (&"second".into(), &1.into())
    );
    let counts = get(&api, "statistics").await;
    assert_eq!(counts["by_depth"]["4"], 1, "{counts}");
    assert_eq!(counts["variants"], books["variants"], "{counts}");
}

#[tokio::test]
async fn unknown_position_names_the_nearest_one() {
    let (api, _) = start(local());
    let rows = [
        (
            "freestyle-15&moves=h8+a1+a2",
            "holds this line as far as freestyle-15 h8 (1 move)",
            1.into(),
        ),
        (
            "freestyle-15&moves=a1",
            "it begins at freestyle-15 h8",
            Value::Null,
        ),
        (
            "xiangqi",
            "it holds freestyle-15 (1 positions)",
            Value::Null,
        ),
    ];
    for (query, expected, held) in rows {
        for route in ["book", "tree"] {
            let path = format!("/api/v1/{route}?variant={query}");
            let refused = json(ask(&api, "GET", &path, &[], "").await).await;
            let error = &refused["error"];
            assert_eq!(error["code"], "not_in_book", "{refused}");
            let message = error["message"].as_str().expect("text");
            assert!(message.contains(expected), "{message}");
            assert_eq!(error["held_moves"], held, "{refused}");
        }
    }
}

#[tokio::test]
async fn priorities_follow_the_line_and_its_moves() {
    let (api, _) = start(local());
    let path = "/api/v1/priorities?variant=freestyle-15&moves=h8";
    let all = json(ask(&api, "GET", path, &[], "").await).await;
    assert_eq!(all["line"][0]["jobs"], serde_json::json!([]), "{all}");
    assert_eq!(all["line"][1]["move"], "h8");
    assert_eq!(all["line"][1]["jobs"][0]["state"], "searched");
    assert_eq!(
        (&all["line"][1]["score"], &all["line"][0]["score"]),
        (&12.into(), &Value::Null)
    );
    let moves = all["moves"].as_array().expect("moves");
    let h9 = moves.iter().find(|step| step["move"] == "h9").expect("h9");
    assert_eq!((&h9["loss"], &h9["is_held"]), (&15.into(), &false.into()));
    assert_eq!(h9["jobs"][0]["priority"], 1.3);
    assert_eq!(h9["jobs"][0]["state"], "waiting");
}

#[tokio::test]
async fn filters_apply_to_suspects_and_games() {
    let (api, _) = start(local());
    let get = async |path: &str| {
        let path = format!("/api/v1/{path}");
        let response = ask(&api, "GET", &path, &[], "").await;
        (response.status(), json(response).await)
    };
    let (status, all) = get("suspects?variant=freestyle-15&moves=h8&top=7").await;
    assert_eq!(status, StatusCode::OK, "{all}");
    assert_eq!(all["suspects"], serde_json::json!([]), "{all}");
    let (status, all) = get("suspects?variant=freestyle-15&moves=a1").await;
    assert_eq!(
        (status, &all["error"]["code"]),
        (StatusCode::NOT_FOUND, &"not_in_book".into())
    );
    let filter = "player=Ann&event=&result=1-0";
    let (status, all) = get(&format!("games?variant=freestyle-15&moves=h8&{filter}")).await;
    assert_eq!(status, StatusCode::OK, "{all}");
    assert_eq!(all["games"], 0, "{all}");
    for wrong in [
        "games?variant=freestyle-15&result=2-0",
        "suspects?variant=freestyle-15&top=0",
    ] {
        let (status, all) = get(wrong).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}: {all}");
    }
}

#[tokio::test]
async fn book_answers_have_the_documented_fields() {
    let (api, _) = start(local());
    let answer = get(&api, "book?variant=freestyle-15&moves=h8").await;
    assert_eq!(answer["best"], "i9");
    assert_eq!(answer["answers"][1]["move"], "h9");
    assert_eq!(answer["answers"][1]["score"], -3);
    assert_eq!(answer["side"], "second");
    let picked = get(&api, "pick?variant=freestyle-15&moves=h8").await;
    assert_eq!(
        (&picked["move"], &picked["score"]),
        (&"i9".into(), &12.into())
    );
    let tree = get(&api, "tree?variant=freestyle-15&moves=h8&plies=3").await;
    assert_eq!(tree["branches"][0]["move"], "i9");
    assert_eq!(tree["branches"][0]["branches"], serde_json::json!([]));
    let before = "/api/v1/transpositions?variant=freestyle-15&moves=";
    let ways = json(ask(&api, "GET", before, &[], "").await).await;
    assert_eq!(
        ways["behind"][0]["moves"],
        serde_json::json!(["h8"]),
        "{ways}"
    );
    let ways = json(ask(&api, "GET", &format!("{before}a1%20i9%20h8"), &[], "").await).await;
    assert_eq!(ways["before"], serde_json::json!([]), "{ways}");
    let position = get(&api, "position?variant=surakarta").await;
    assert_eq!(
        position["fen"].as_str().map(|fen| &fen[..13]),
        Some("wwwwww/wwwwww")
    );
    assert_eq!(position["outcome"], Value::Null);
}

#[tokio::test]
async fn invalid_requests_get_a_code_and_a_reason() {
    let (api, _) = start(local());
    let rows = [
        "GET /api/v1/book 400 bad_request missing field `variant`",
        "GET /api/v1/book?variant=go-19 400 bad_request unknown variant 'go-19'",
        "GET /api/v1/book?variant=freestyle-15&moves=z99 400 bad_request move 1",
        "GET /api/v1/book?variant=freestyle-15&moves=h8h8 400 bad_request h8 is taken",
        "GET /api/v1/book?variant=freestyle-15&moves=a1 404 not_in_book does not hold",
        "GET /api/v1/book?variant=freestyle-15&movs=a1 400 bad_request unknown field `movs`",
        "GET /api/v1/book?variant=xiangqi&fen=8%2F 400 bad_request fen: ",
        "GET /api/v1/book?variant=freestyle-15&variant=renju-15 400 bad_request duplicate field `variant`",
        "GET /api/v1/book?variant=freestyle-15&searched=1 400 bad_request `true` or `false`",
        "GET /api/v1/tree?variant=freestyle-15&plies=101 400 bad_request plies=101: 101: must be a number from 1 to 100",
        "GET /api/v1/tree?variant=freestyle-15&plies=x 400 bad_request plies=x: invalid digit",
        "GET /api/v1/pick?variant=freestyle-15&temperature=-1 400 bad_request from 0 to",
        "GET /api/v1/pick?variant=freestyle-15&temperature=NaN 400 bad_request from 0 to",
        "GET /api/v2 404 no_such_route openapi.json",
        "DELETE /api/v1/jobs 405 no_such_method DELETE",
        "POST /api/v1/tree 405 no_such_method POST",
        "POST /api/v1/jobs 400 bad_body ",
        "POST /api/v1/jobs/x/pause 409 conflict only reads its book",
        "POST /api/v1/jobs/x/halt 400 bad_request expected one of `pause`",
        "GET /api/v1/jobs/x 409 conflict only reads its book",
        "GET /api/v1/jobs/%ff 400 bad_request UTF-8",
        "POST /api/v1/jobs/%ff/pause 400 bad_request UTF-8",
    ];
    let is_json = [("content-type", "application/json")];
    for row in rows {
        let parts: Vec<&str> = row.splitn(5, ' ').collect();
        let [method, path, status, code, message] = parts[..] else {
            panic!("a row has five parts: {row}")
        };
        let response = ask(&api, method, path, &is_json, "{").await;
        assert_eq!(response.status().as_str(), status, "{method} {path}");
        let error = json(response).await;
        assert_eq!(error["error"]["code"], code, "{method} {path}");
        assert!(
            error["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains(message)),
            "{path}: {error}"
        );
    }
    let long = format!(
        "/api/v1/book?variant=freestyle-15&moves={}",
        "a".repeat(40_000)
    );
    assert_eq!(
        ask(&api, "GET", &long, &[], "").await.status(),
        StatusCode::URI_TOO_LONG
    );
    let large = "x".repeat(300 << 10);
    let large = ask(&api, "POST", "/api/v1/jobs", &is_json, &large).await;
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn tag_is_valid_until_the_book_changes() {
    let (api, epoch) = start(local());
    let path = "/api/v1/book?variant=freestyle-15&moves=h8";
    let tag = |response: &Response<Body>| {
        response.headers()["etag"]
            .to_str()
            .expect("text")
            .to_string()
    };
    let first = tag(&ask(&api, "GET", path, &[], "").await);
    let again = ask(&api, "GET", path, &[("if-none-match", &first)], "").await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    for other in [format!("W/{first}"), format!("\"x\", {first}"), "*".into()] {
        let again = ask(&api, "GET", path, &[("if-none-match", &other)], "").await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{other}");
    }
    epoch.fetch_add(1, Ordering::Relaxed);
    let changed = ask(&api, "GET", path, &[("if-none-match", &first)], "").await;
    assert_eq!(changed.status(), StatusCode::OK);
    assert_ne!(tag(&changed), first);
}

#[tokio::test]
async fn other_origins_read_only_where_allowed() {
    let (closed, _) = start(local());
    let (open, _) = start(AccessPolicy {
        origins: vec!["https://example.org".into()],
        ..local()
    });
    let here = [("origin", "https://example.org")];
    let path = "/api/v1/status";
    assert!(
        ask(&closed, "GET", path, &here, "")
            .await
            .headers()
            .get("access-control-allow-origin")
            .is_none()
    );
    let read = ask(&open, "GET", path, &here, "").await;
    assert_eq!(
        read.headers()["access-control-allow-origin"],
        "https://example.org"
    );
    let response = ask(&open, "OPTIONS", path, &here, "").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["access-control-allow-methods"], "GET");
    let changing = ask(&open, "POST", "/api/v1/jobs", &here, "{}").await;
    assert_eq!(changing.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn page_loads_from_its_own_server_alone() {
    let (api, _) = start(local());
    let page = ask(&api, "GET", "/", &[], "").await;
    assert_eq!(page.status(), StatusCode::OK);
    let policy = page.headers()["content-security-policy"]
        .to_str()
        .expect("text")
        .to_string();
    let rest = policy.replace("'wasm-unsafe-eval'", "");
    assert!(
        rest.contains("default-src 'none'") && !rest.contains("unsafe"),
        "{policy}"
    );
    let bytes = to_bytes(page.into_body(), 1 << 20).await.expect("a body");
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    let links: Vec<&str> = text
        .split(['"', '\''])
        .filter(|link| link.starts_with("/page/"))
        .collect();
    assert!(links.len() >= 3, "{links:?}");
    for link in links {
        assert_eq!(
            ask(&api, "GET", link, &[], "").await.status(),
            StatusCode::OK,
            "{link}"
        );
    }
}

#[tokio::test]
async fn wrong_methods_are_named_before_anything_else() {
    let (api, _) = start(AccessPolicy {
        may_change: false,
        ..local()
    });
    for (method, path) in [("POST", "/api/v1/book"), ("PUT", "/api/v1/jobs/x/pause")] {
        let refused = ask(&api, method, path, &[("content-type", "text/plain")], "x").await;
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}

#[tokio::test]
async fn changes_without_a_body_need_no_content_type() {
    let (api, _) = start(local());
    for change in ["pause", "resume", "cancel"] {
        let path = format!("/api/v1/jobs/x/{change}");
        let answer = ask(&api, "POST", &path, &[], "").await;
        assert_eq!(answer.status(), StatusCode::CONFLICT, "{change}");
        let with_body = [("content-length", "2")];
        let refused = ask(&api, "POST", &path, &with_body, "{}").await;
        assert_eq!(refused.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
}

#[tokio::test]
async fn too_long_body_is_rejected_with_the_limit() {
    let (api, _) = start(AccessPolicy {
        may_change: true,
        ..local()
    });
    let body = format!("{{\"name\": \"{}\"}}", "x".repeat(256 << 10));
    for path in ["/api/v1/jobs", "/api/v1/analyses"] {
        let headers = [("content-type", "application/json")];
        let refused = ask(&api, "POST", path, &headers, &body).await;
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        let response = json(refused).await;
        assert_eq!(response["error"]["code"], "too_long", "{response}");
        assert_eq!(
            response["error"]["message"],
            "a body may have 262144 bytes: build from fewer roots, or over gRPC",
            "{response}"
        );
    }
}
