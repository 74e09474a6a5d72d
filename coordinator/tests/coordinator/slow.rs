//! Clients that do not read their answers: the coordinator keeps a bounded part.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use kagetsu_book::{Book, BookOptions};
use kagetsu_coordinator::Config;
use kagetsu_game::{Answer, Bound, Position, Provenance, Score, Variant, Verdict};
use kagetsu_proto::{retry_after, v1};
use prost::Message;
use tonic::Code;
use tonic::client::Grpc;
use tower::ServiceExt;

use crate::beats::{analysis, beat, beats};
use crate::builds::talkative;
use crate::world::{Cluster, ScriptedWorker, accepted, answer, build, named, next, within};

/// Bytes that a client's connection buffers before the client reads them.
const WINDOW: usize = 2 << 20;
/// Messages that wait on their way, and bytes of the rest of it.
const SLACK: usize = 1 << 19;

/// Reports progress of a task until the reports have this many bytes.
async fn show(cluster: &Cluster, instance: u64, task: &v1::Task, bytes: usize) {
    let so_far = answer(task);
    let out = beats(cluster).await;
    for nodes in 1..=(bytes / so_far.encoded_len()) as u64 + 1 {
        out.send(beat(instance, task, nodes, Some(so_far.clone())))
            .await
            .expect("it listens");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_analysis_is_bounded_by_its_window() {
    let cluster = Cluster::start(None);
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let mut updates = analysis(&cluster).await;
    let task = worker.task().await;
    show(&cluster, 1, &task, 3 * WINDOW).await;
    worker.answer(&task).await;
    let (mut bytes, mut is_over) = (0, false);
    while !is_over {
        let update = next(&mut updates).await;
        (bytes, is_over) = (bytes + update.encoded_len(), update.is_final);
    }
    assert!(bytes < WINDOW + SLACK, "{bytes} bytes were kept");
    cluster.end().await;
}

/// Returns the answer of the HTTP API.
pub(crate) async fn request(
    cluster: &Cluster,
    method: &str,
    path: &str,
    body: &'static str,
) -> Response {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    let answer = cluster
        .http
        .clone()
        .oneshot(request.body(Body::from(body)).expect("a request"))
        .await;
    answer.expect("infallible")
}

/// The same from a given address.
pub(crate) async fn request_by(cluster: &Cluster, address: [u8; 4], path: &str) -> Response {
    let client = kagetsu_http::ClientAddress(std::net::SocketAddr::from((address, 5_000)));
    let request = Request::builder().uri(path).extension(client);
    cluster
        .http
        .clone()
        .oneshot(request.body(Body::empty()).expect("a request"))
        .await
        .expect("infallible")
}

async fn open(cluster: &Cluster, method: &str, path: &str, body: &'static str) -> Body {
    let answer = request(cluster, method, path, body).await;
    assert_eq!(answer.status(), StatusCode::OK);
    answer.into_body()
}

/// The events of a stream that ends.
async fn events(body: Body) -> Vec<String> {
    let text = within(to_bytes(body, usize::MAX))
        .await
        .expect("a whole body");
    let text = String::from_utf8(text.to_vec()).expect("text");
    text.split("\n\n")
        .filter(|event| event.contains("data:"))
        .map(Into::into)
        .collect()
}

/// Events on their way to a client that does not read.
const UNREAD: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn last_of_unread_events_counts() {
    let cluster = Cluster::start(None);
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let question = r#"{"variant": "freestyle-15", "moves": "h8 i9", "depth": 4}"#;
    let unread = open(&cluster, "POST", "/api/v1/analyses", question).await;
    let task = worker.task().await;
    show(&cluster, 1, &task, WINDOW).await;
    worker.answer(&task).await;
    // From its acknowledgement on no event comes that was sent before it.
    worker.acknowledged().await;
    let events = events(unread).await;
    assert!(events.len() <= UNREAD, "{} events were kept", events.len());
    assert!(
        events
            .last()
            .is_some_and(|event| event.contains("\"is_final\":true")),
        "{events:?}"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn last_state_of_an_unread_job_counts() {
    let cluster = Cluster::with_build(100_000).await;
    let unread = open(&cluster, "GET", "/api/v1/jobs/test/events", "").await;
    let name = || named("test");
    let mut read = accepted(cluster.builds().await.watch(name()).await);
    cluster.worker("worker");
    for _ in 0..2 * UNREAD {
        next(&mut read).await;
    }
    cluster.builds().await.cancel(name()).await.expect("a job");
    let events = events(unread).await;
    assert!(events.len() <= UNREAD, "{} events were kept", events.len());
    assert!(
        events
            .last()
            .is_some_and(|event| event.contains("cancelled")),
        "{events:?}"
    );
    cluster.end().await;
}

/// Fills a book with large positions: with this many, fewer those that are the same.
fn fill(folder: &std::path::Path, positions: usize) {
    let options = BookOptions {
        create: true,
        cache_bytes: 8 << 20,
    };
    let (mut book, _) = Book::open(folder, &options).expect("a book");
    let start = Position::start(Variant::FREESTYLE_15);
    let moves = start.legal_moves();
    for n in 0..positions {
        let position = start
            .play(moves[n / 200 % 225])
            .and_then(|one| one.play(moves[(n / 200 + 1 + n % 200) % 225]));
        let Ok(position) = position else { continue };
        let verdict = |m| {
            let by = Provenance {
                engine: "talkative ".repeat(24).into(),
                day: 1,
            };
            (
                m,
                Verdict {
                    score: Score::opinion(1),
                    bound: Bound::Exact,
                    depth: 3,
                    nodes: 9,
                    line: vec![m],
                    proof: None,
                    by,
                },
            )
        };
        let answer: Answer = position
            .legal_moves()
            .into_iter()
            .take(100)
            .map(verdict)
            .collect();
        book.learn(&position, &answer).expect("room");
    }
    book.close().expect("room");
}

/// An export reads the book as fast as its client, so it has answers learned meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn unread_export_does_not_read_the_book() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), 400);
    let cluster = Cluster::start(Some(folder.path()));
    let mut unread = accepted(cluster.books().await.export(v1::ExportRequest {}).await);
    let first = next(&mut unread).await;
    let named =
        |found: v1::Found| Position::try_from(&found.position.expect("named")).expect("a position");
    let first = named(first);
    // Positions of more stones come later.
    let late = crate::world::position("h8 i9 j10 k11");
    let roots = vec![(&late).into()];
    cluster
        .start_build(v1::StartRequest {
            roots,
            ..build("test", 1)
        })
        .await;
    cluster.worker("worker");
    assert_eq!(cluster.finished("test").await.positions, 1);
    let (mut count, mut bytes, mut last) = (1, 0, None);
    while let Some(found) = within(unread.message()).await.expect("a stream") {
        (count, bytes, last) = (count + 1, bytes + found.encoded_len(), Some(named(found)));
    }
    assert!(
        bytes > 2 * WINDOW,
        "the book must not fit into the window: {count} positions, {bytes} bytes"
    );
    assert!(
        first.key() != late.key() && last.map(|position| position.key()) == Some(late.key()),
        "the last is the newest"
    );
    cluster.end().await;
}

/// Large answers that may wait to be read, in bytes.
const LARGE: usize = 64 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn unread_look_ups_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    // However slow the machine is, no answer expires during the test.
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        trusts_workers: true,
        read_timeout: Some(Duration::from_secs(24 * 3_600)),
        ..Config::default()
    };
    let cluster = Cluster::start_as(&config);
    let root = talkative(&cluster).await;
    let request = v1::LookupManyRequest {
        positions: vec![(&root).into(); 60],
        top: 0,
    };
    let answer = accepted(cluster.books().await.lookup_many(request.clone()).await);
    // A whole answer does not fit into the window of a client's stream, so it waits for its reader.
    let weight = answer.encoded_len();
    assert!(weight > WINDOW, "{weight} bytes");
    let mut waiting = Vec::new();
    let refusal = loop {
        let mut client = Grpc::new(cluster.channel().await);
        client.ready().await.expect("it serves");
        let path = "/kagetsu.v1.Books/LookupMany".parse().expect("a path");
        let codec =
            tonic_prost::ProstCodec::<v1::LookupManyRequest, v1::LookupManyResponse>::default();
        match client
            .server_streaming(tonic::Request::new(request.clone()), path, codec)
            .await
        {
            Ok(unread) => waiting.push(unread.into_inner()),
            Err(refusal) => break refusal,
        }
        assert!(
            waiting.len() <= LARGE / weight,
            "{} answers of {weight} bytes wait",
            waiting.len()
        );
    };
    assert_eq!(refusal.code(), Code::ResourceExhausted, "{refusal}");
    assert!(
        retry_after(&refusal).is_some() && refusal.message().contains("wait to be read"),
        "{refusal}"
    );
    // A client that reads gets the whole answer, and makes room.
    let mut read = waiting.pop().expect("some wait");
    assert_eq!(
        within(read.message()).await.expect("a stream"),
        Some(answer.clone())
    );
    drop(waiting);
    let found = loop {
        match cluster.books().await.lookup_many(request.clone()).await {
            Ok(found) => break found.into_inner(),
            Err(refusal) => assert_eq!(refusal.code(), Code::ResourceExhausted, "{refusal}"),
        }
    };
    assert_eq!(found, answer);
    cluster.end().await;
}
