//! Requests beyond the limits, old and new clients, and a coordinator that stops.

use std::time::Duration;

use kagetsu_coordinator::Config;
use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::{AuthenticatedChannel, MESSAGE_LIMIT, retry_after};
use tonic::{Code, Request, Status, Streaming};

use crate::slow::{request, request_by};
use crate::world::{Cluster, ScriptedWorker, accepted, build, named, position, within};

/// Open analyses of a coordinator.
const MAX_ANALYSES: usize = 128;

async fn analyze(caller: AuthenticatedChannel) -> Result<Streaming<v1::AnalyzeUpdate>, Status> {
    let question = Question::new(position("h8 i9"), Effort::depth(4));
    let request = v1::AnalyzeRequest {
        question: Some((&question).into()),
        split: v1::Split::Seeded.into(),
        keep: false,
    };
    AnalysisClient::new(caller)
        .analyze(request)
        .await
        .map(tonic::Response::into_inner)
}

#[tokio::test(flavor = "multi_thread")]
async fn excess_analysis_is_told_when_to_retry() {
    let cluster = Cluster::start(None);
    let caller = cluster.channel().await;
    let mut open = Vec::new();
    for _ in 0..MAX_ANALYSES {
        open.push(analyze(caller.clone()).await.expect("a place"));
    }
    let refusal = analyze(caller.clone()).await.expect_err("no place");
    assert_eq!(refusal.code(), Code::ResourceExhausted);
    assert!(
        refusal.message().contains("128 analyses are open"),
        "{refusal}"
    );
    assert_eq!(retry_after(&refusal), Some(Duration::from_secs(5)));
    assert!(
        refusal
            .metadata()
            .get("retry-after")
            .is_some_and(|seconds| seconds == "5")
    );
    drop(open);
    // The place is free when the coordinator has noticed.
    within(async { while analyze(caller.clone()).await.is_err() {} }).await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_version_is_told_what_to_upgrade() {
    let cluster = Cluster::start(None);
    let ask = async |versions: &str| {
        let mut request = Request::new(v1::ListJobsRequest {});
        request
            .metadata_mut()
            .insert("kagetsu-protocol", versions.parse().expect("plain text"));
        cluster
            .builds()
            .await
            .list(request)
            .await
            .expect_err("there is no book")
    };
    let old = ask("0 0.0.3").await;
    assert_eq!(old.code(), Code::FailedPrecondition);
    assert!(
        old.message().contains("(kagetsu 0.0.3)")
            && old
                .message()
                .contains("please upgrade the client to kagetsu"),
        "{old}"
    );
    let new = ask("7 7.1.0").await;
    assert!(
        new.message()
            .contains("please upgrade the coordinator to kagetsu 7.1.0"),
        "{new}"
    );
    for understood in ["1 0.0.3", "of no meaning"] {
        assert!(
            ask(understood).await.message().contains("no book"),
            "{understood}"
        );
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn running_tasks_are_awaited_at_the_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = Some(folder.path().to_path_buf());
    let patient = Config {
        book: book.clone(),
        cache_mib: 8,
        trusts_workers: true,
        grace: Duration::from_secs(1_000),
        ..Config::default()
    };
    let cluster = Cluster::start_as(&patient);
    cluster.start_build(build("test", 100_000)).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let task = worker.task().await;
    let ending = tokio::spawn(cluster.end());
    worker.answer(&task).await;
    // Only tasks that were already on their way arrive.
    let (mut answered, mut kept) = (1, 0);
    while let Some(message) = within(worker.next()).await {
        match message {
            CoordinatorMessage::Task(task) => {
                worker.answer(&task).await;
                answered += 1;
            }
            CoordinatorMessage::Acknowledge(_) => kept += 1,
            _ => {}
        }
    }
    assert_eq!(kept, answered);
    within(ending).await.expect("a clean end");
    let cluster = Cluster::start(book.as_deref());
    let job = cluster.job("test").await;
    assert_eq!(job.positions, kept);
    cluster.end().await;
}

/// Returns a text that does not fit into a message.
fn too_long() -> String {
    "x".repeat(MESSAGE_LIMIT)
}

#[tokio::test(flavor = "multi_thread")]
async fn long_message_is_refused_with_the_limit() {
    let cluster = Cluster::with_book();
    let name = v1::JobName { name: too_long() };
    let refusal = cluster
        .builds()
        .await
        .get(name)
        .await
        .expect_err("too long");
    assert_eq!(refusal.code(), Code::OutOfRange);
    let limit = MESSAGE_LIMIT.to_string();
    assert!(
        refusal.message().contains("too large") && refusal.message().contains(&limit),
        "{refusal}"
    );
    // The connection still works.
    assert!(
        cluster
            .builds()
            .await
            .list(v1::ListJobsRequest {})
            .await
            .is_ok()
    );

    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    cluster.start_build(build("test", 10)).await;
    let task = worker.task().await;
    worker
        .report(&task, v1::report::Outcome::Failed(too_long()))
        .await;
    let refusal = worker.refusal().await;
    assert_eq!(refusal.code(), Code::InvalidArgument);
    assert!(
        refusal
            .message()
            .contains("a message of a worker has at most 4194304 bytes"),
        "{refusal}"
    );
    cluster.end().await;
}

/// Streams of one connection.
const STREAMS: usize = 256;

#[tokio::test(flavor = "multi_thread")]
async fn excess_stream_of_a_connection_waits() {
    let cluster = Cluster::with_build(10).await;
    let mut builds = cluster.builds().await;
    let name = || named("test");
    let mut open = Vec::new();
    for _ in 0..STREAMS {
        open.push(accepted(builds.watch(name()).await));
    }
    let mut more = tokio::spawn(async move { builds.watch(name()).await.map(drop) });
    // Other connections are served meanwhile.
    for _ in 0..STREAMS {
        cluster.builds().await.get(name()).await.expect("a job");
        assert!(!more.is_finished(), "one stream too many");
    }
    open.pop();
    within(&mut more)
        .await
        .expect("no panic")
        .expect("its turn");
    cluster.end().await;
}

/// Streams of events that one address may have open at a time, and all together.
const LISTENERS: [usize; 2] = [64, 128];

#[tokio::test(flavor = "multi_thread")]
async fn excess_event_stream_is_told_when_to_retry() {
    let cluster = Cluster::with_build(10).await;
    let path = "/api/v1/jobs/test/events";
    let (ask, from) = (
        || request(&cluster, "GET", path, ""),
        |client: u8| request_by(&cluster, [192, 0, 2, client], path),
    );
    let mut open = Vec::new();
    for _ in 0..LISTENERS[0] {
        open.push(ask().await);
    }
    let refused = async |refusal: axum::response::Response, why: &str| {
        assert_eq!(
            (
                refusal.status().as_u16(),
                refusal.headers()["retry-after"].to_str().ok()
            ),
            (429, Some("5"))
        );
        let body = axum::body::to_bytes(refusal.into_body(), 1 << 16)
            .await
            .expect("a body");
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains(why), "{text}");
    };
    refused(
        ask().await,
        "your address has 64 streams of events open, no more for one: close another page",
    )
    .await;
    for client in LISTENERS[0]..LISTENERS[1] {
        open.push(from(client as u8).await);
    }
    assert!(
        open.iter().all(|answer| answer.status() == 200),
        "others find places"
    );
    refused(
        from(0).await,
        "128 streams of events are open, no more at a time",
    )
    .await;
    open.truncate(LISTENERS[0] - 1);
    within(async { while ask().await.status() != 200 {} }).await;
    // A refusal of the services has its time too.
    let mut analyses = Vec::new();
    for _ in 0..MAX_ANALYSES {
        analyses.push(analyze(cluster.channel().await).await.expect("a place"));
    }
    drop(open);
    let question = r#"{"variant": "freestyle-15", "moves": "h8 i9", "depth": 4}"#;
    let refusal = within(async {
        loop {
            let answer = request(&cluster, "POST", "/api/v1/analyses", question).await;
            let body = |answer: axum::response::Response| {
                axum::body::to_bytes(answer.into_body(), 1 << 16)
            };
            let (status, wait) = (
                answer.status(),
                answer.headers().get("retry-after").cloned(),
            );
            let text = String::from_utf8_lossy(&body(answer).await.expect("a body")).into_owned();
            if text.contains("128 analyses are open") {
                break (status.as_u16(), wait);
            }
        }
    })
    .await;
    assert_eq!(refusal, (429, Some("5".parse().expect("a value"))));
    cluster.end().await;
}
