//! Requests with megabytes of text and escape sequences: an answer repeats little of them, and
//! nothing that changes a terminal.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use kagetsu_game::{Effort, Question, is_visible};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::workers_client::WorkersClient;
use serde_json::json;
use tonic::{Response, Status};
use tower::ServiceExt;

use crate::world::{Cluster, ScriptedWorker, build, hello, position};

/// Longest message that may repeat foreign text, in bytes.
const MAX_MESSAGE_BYTES: usize = 6_000;

/// Returns text that clears a terminal, turns its direction and fills it.
fn foreign(bytes: usize) -> String {
    format!("\u{1b}[2J\u{202e}\u{200b}{}", "x".repeat(bytes))
}

/// Checks that a message is short and harmless.
fn check(entrance: &str, message: &str) {
    let length = message.len();
    assert!(length < MAX_MESSAGE_BYTES, "{entrance}: {length} bytes");
    let hidden = message.chars().find(|c| !is_visible(*c) && *c != '\n');
    assert_eq!(hidden, None, "{entrance}: {message:?}");
}

fn check_refusal<T>(entrance: &str, response: Result<Response<T>, Status>) {
    let status = response.err().expect(entrance);
    check(entrance, status.message());
}

#[tokio::test(flavor = "multi_thread")]
async fn grpc_refusals_quote_foreign_text() {
    type Spoil = fn(&mut v1::StartRequest, String);
    let cluster = Cluster::with_book();
    let text = foreign(3 << 20);
    let mut builds = cluster.builds().await;
    let rows: [(&str, Spoil); 7] = [
        ("name", |r, text| r.name = text),
        ("long name", |r, text| r.name = text[..190].into()),
        ("variant of a root", |r, text| r.roots[0].variant = text),
        ("settings", |r, text| r.settings = text),
        ("key", |r, text| r.settings = json!({text: 1}).to_string()),
        ("number", |r, text| {
            r.settings = json!({"depth": text}).to_string();
        }),
        ("word", |r, text| {
            r.settings = json!({"policy": text}).to_string();
        }),
    ];
    for (entrance, spoil) in rows {
        let mut request = build("test", 10);
        spoil(&mut request, text.clone());
        check_refusal(entrance, builds.start(request).await);
    }
    let many: serde_json::Map<_, _> = (0..100_000).map(|n| (format!("k{n}"), n.into())).collect();
    let request = v1::StartRequest {
        settings: serde_json::Value::Object(many).to_string(),
        ..build("test", 10)
    };
    check_refusal("many keys", builds.start(request).await);
    let job = || v1::JobName { name: text.clone() };
    check_refusal("get", builds.get(job()).await);
    check_refusal("watch", builds.watch(job()).await);
    check_refusal("pause", builds.pause(job()).await);
    check_refusal("resume", builds.resume(job()).await);
    check_refusal("retry", builds.retry(job()).await);
    check_refusal("cancel", builds.cancel(job()).await);
    let name = text.clone();
    let request = v1::PrioritizeRequest { name, priority: 1 };
    check_refusal("prioritize", builds.prioritize(request).await);

    let mut books = cluster.books().await;
    let spoiled = v1::Position {
        variant: text.clone(),
        ..v1::Position::default()
    };
    check_refusal("lookup", books.lookup(spoiled.clone()).await);
    let request = v1::ReadRequest {
        view: "tree".into(),
        position: Some(spoiled.clone()),
        options: String::new(),
    };
    check_refusal("read", books.read(request).await);
    for (view, options) in [(text.clone(), String::new()), ("tree".into(), text.clone())] {
        let request = v1::ReadRequest {
            view,
            position: Some((&position("h8")).into()),
            options,
        };
        check_refusal("read", books.read(request).await);
    }
    let question = v1::Question {
        position: Some(spoiled),
        ..v1::Question::from(&Question::new(position("h8"), Effort::depth(2)))
    };
    let request = v1::AnalyzeRequest {
        question: Some(question),
        ..v1::AnalyzeRequest::default()
    };
    let mut analyses = AnalysisClient::new(cluster.channel().await);
    check_refusal("analyze", analyses.analyze(request).await);
    let mut workers = WorkersClient::new(cluster.channel().await);
    let request = v1::ReleaseRequest { name: text.clone() };
    check_refusal("release", workers.release(request).await);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_workers_is_quoted() {
    let cluster = Cluster::with_book();
    let text = foreign(1 << 20);
    let introductions = [
        v1::Hello {
            name: text.clone(),
            ..hello(1)
        },
        v1::Hello {
            name: text[..190].into(),
            ..hello(1)
        },
        v1::Hello {
            engine: text[..190].into(),
            ..hello(1)
        },
        v1::Hello {
            version: text.clone(),
            protocol: 99,
            ..hello(1)
        },
        v1::Hello {
            variants: vec![text.clone()],
            ..hello(1)
        },
    ];
    for introduction in introductions {
        let entrance = format!("{:.80}", format!("{introduction:?}"));
        let refused =
            ScriptedWorker::say_first(cluster.channel().await, WorkerMessage::Hello(introduction))
                .await;
        let status = refused.err().expect("a refusal");
        check(&entrance, status.message());
    }
    let mut builds = cluster.builds().await;
    builds.start(build("test", 10)).await.expect("a job");
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    for _ in 0..3 {
        let task = worker.task().await;
        worker.report(&task, Outcome::Failed(text.clone())).await;
        worker.acknowledged().await;
    }
    let job = cluster.finished("test").await;
    assert_eq!(job.state(), v1::JobState::Failed, "{job:?}");
    check("a job's reason", &job.reason);
    check("a skipped position", &job.asides[0].reason);
    assert!(job.asides[0].reason.contains("xxx"), "{job:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_errors_quote_foreign_text() {
    let cluster = Cluster::with_book();
    let text = foreign(50_000);
    let coded: String = foreign(10_000)
        .bytes()
        .map(|byte| format!("%{byte:02x}"))
        .collect();
    let body = |key: &str| {
        let mut start = json!({"name": "test", "variant": "freestyle-15", "depth": 2});
        start[key] = text.clone().into();
        start.to_string()
    };
    let rows = [
        ("GET", format!("/{coded}"), String::new()),
        ("GET", format!("/api/v1/jobs/{coded}"), String::new()),
        (
            "GET",
            format!("/api/v1/book?variant={coded}"),
            String::new(),
        ),
        (
            "GET",
            format!("/api/v1/book?variant=freestyle-15&moves={coded}"),
            String::new(),
        ),
        (
            "GET",
            format!("/api/v1/book?variant=xiangqi&fen={coded}"),
            String::new(),
        ),
        (
            "GET",
            format!("/api/v1/book?variant=freestyle-15&{coded}=1"),
            String::new(),
        ),
        ("POST", "/api/v1/jobs".into(), text.clone()),
        ("POST", "/api/v1/jobs".into(), body("name")),
        ("POST", "/api/v1/jobs".into(), body("variant")),
        ("POST", "/api/v1/jobs".into(), body("depth")),
        ("POST", "/api/v1/jobs".into(), body("policy")),
        ("POST", "/api/v1/jobs".into(), body(&text)),
        ("POST", "/api/v1/analyses".into(), body("moves")),
        ("POST", format!("/api/v1/{coded}"), String::new()),
    ];
    for (method, path, body) in rows {
        let entrance = format!("{method} {path:.40} {body:.80}");
        let request = Request::builder()
            .method(method)
            .uri(&path)
            .header("content-type", "application/json")
            .body(Body::from(body))
            .expect("a request");
        let response = cluster.http.clone().oneshot(request).await;
        let response = response.expect("infallible");
        let status = response.status();
        assert!(status.is_client_error(), "{entrance}: {status}");
        for value in response.headers().values() {
            check(&entrance, value.to_str().expect("plain text"));
        }
        let answer = to_bytes(response.into_body(), usize::MAX).await;
        let answer = answer.expect("a whole body");
        check(&entrance, std::str::from_utf8(&answer).expect("text"));
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        let message = answer["error"]["message"].as_str().expect("a message");
        check(&entrance, message);
    }
    cluster.end().await;
}
