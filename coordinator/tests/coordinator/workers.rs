//! Workers that die, return, repeat messages, fail, and lie.

use kagetsu_coordinator::Config;
use kagetsu_proto::v1::JobState;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{Access, v1};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};
use tonic_reflection::pb::v1alpha::ServerReflectionRequest;
use tonic_reflection::pb::v1alpha::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1alpha::server_reflection_request::MessageRequest;

use crate::world::{Cluster, ScriptedWorker, accepted, answer, build, hello, named, within};

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_a_dead_worker_are_reassigned() {
    let cluster = Cluster::with_build(10).await;
    let mut dies = ScriptedWorker::join(&cluster, 1).await;
    let lost = dies.task().await;
    drop(dies);
    let mut heir = ScriptedWorker::join(&cluster, 2).await;
    let task = heir.task().await;
    assert_eq!((task.task, &task.question), (lost.task, &lost.question));
    assert!(task.attempt > lost.attempt);
    drop(heir);
    cluster.worker("worker");
    assert_eq!(cluster.finished("test").await.positions, 10);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_with_a_long_message_is_cut_off() {
    let cluster = Cluster::with_build(10).await;
    let mut endless = ScriptedWorker::join(&cluster, 1).await;
    let task = endless.task().await;
    endless
        .report(
            &task,
            Outcome::Failed("x".repeat(kagetsu_proto::MESSAGE_LIMIT)),
        )
        .await;
    assert!(endless.is_cut_off().await);
    cluster.worker("worker");
    let job = cluster.finished("test").await;
    assert_eq!((job.positions, job.set_aside), (10, 0));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reconnecting_worker_keeps_its_tasks() {
    let cluster = Cluster::with_build(10).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let task = worker.task().await;
    drop(worker);
    let held = vec![v1::Held {
        task: task.task,
        attempt: task.attempt,
        ..Default::default()
    }];
    let mut worker = ScriptedWorker::greet(&cluster, v1::Hello { held, ..hello(1) }).await;
    // The answer counts, although the worker was away.
    worker.answer(&task).await;
    assert_eq!(worker.acknowledged().await.task, task.task);
    let job = cluster.job("test").await;
    assert_eq!(job.positions, 1);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_report_counts_once() {
    let cluster = Cluster::with_build(10).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let task = worker.task().await;
    worker.answer(&task).await;
    assert_eq!(worker.acknowledged().await.task, task.task);
    worker.answer(&task).await;
    assert_eq!(worker.acknowledged().await.task, task.task);
    let unknown = v1::Task {
        task: 7,
        attempt: 1,
        ..task
    };
    worker
        .report(&unknown, Outcome::Answer(answer(&unknown)))
        .await;
    assert_eq!(worker.acknowledged().await.task, 7);
    let job = cluster.job("test").await;
    assert_eq!(job.positions, 1);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unsearchable_position_is_set_aside() {
    let cluster = Cluster::with_build(10).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    // None of these is an answer: no move, an illegal move, and plain text.
    let illegal = v1::Verdict {
        r#move: 112,
        bound: v1::Bound::Exact.into(),
        ..Default::default()
    };
    let outcomes = [
        Outcome::Answer(v1::Answer::default()),
        Outcome::Answer(v1::Answer {
            verdicts: vec![illegal],
        }),
        Outcome::Failed("no idea".into()),
    ];
    for outcome in outcomes {
        let task = worker.task().await;
        worker.report(&task, outcome).await;
        assert_eq!(worker.acknowledged().await.task, task.task);
    }
    let job = cluster.finished("test").await;
    assert_eq!(
        (job.state(), job.positions, job.set_aside),
        (JobState::Failed, 0, 1),
        "{job:?}"
    );
    assert!(job.reason.contains("after 0 of 10 positions"), "{job:?}");
    assert_eq!(job.asides.len(), 1);
    assert!(job.asides[0].reason.contains("no idea"), "{job:?}");
    assert_eq!(
        job.asides[0]
            .position
            .as_ref()
            .map(|position| &*position.variant),
        Some("freestyle-15")
    );
    drop(worker);
    let job = accepted(cluster.builds().await.retry(named("test")).await);
    assert_eq!(
        (job.state(), job.set_aside, &job.asides[..]),
        (JobState::Running, 0, &[][..]),
        "{job:?}"
    );
    cluster.worker("worker");
    assert_eq!(cluster.finished("test").await.positions, 10);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn handed_back_task_goes_to_another_worker() {
    let cluster = Cluster::with_build(3).await;
    for instance in 1..=5 {
        let mut worker = ScriptedWorker::join(&cluster, instance).await;
        let task = worker.task().await;
        worker
            .report(&task, Outcome::HandedBack(v1::HandedBack {}))
            .await;
        assert_eq!(worker.acknowledged().await.task, task.task);
        worker.say(WorkerMessage::Goodbye(v1::Goodbye {})).await;
        assert!(worker.is_cut_off().await);
    }
    assert_eq!(cluster.workers().await, []);
    cluster.worker("worker");
    let job = cluster.finished("test").await;
    assert_eq!((job.positions, job.set_aside), (3, 0));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_stream_of_a_worker_ends_the_first() {
    let cluster = Cluster::start(None);
    let mut first = ScriptedWorker::join(&cluster, 1).await;
    let _second = ScriptedWorker::join(&cluster, 1).await;
    assert!(first.is_cut_off().await);
    drop(first);
    let workers = cluster.workers().await;
    assert_eq!((workers.len(), workers[0].name.as_str()), (1, "worker 1"));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_on_a_socket_works_and_health_is_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        ..Config::default()
    };
    let cluster = Cluster::listen(&config, None, None, Access::default()).await;
    let worker = cluster.worker("worker");
    let channel = cluster.channel().await;
    for service in [
        "",
        "kagetsu.v1.Analysis",
        "kagetsu.v1.Builds",
        "kagetsu.v1.Books",
        "kagetsu.v1.Workers",
    ] {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        let health = accepted(HealthClient::new(channel.clone()).check(request).await);
        assert_eq!(health.status(), ServingStatus::Serving, "{service}");
    }
    // Older clients ask by this version.
    let ask = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..ServerReflectionRequest::default()
    };
    let mut described = ServerReflectionClient::new(channel.clone());
    let mut answers = accepted(
        described
            .server_reflection_info(tokio_stream::once(ask))
            .await,
    );
    let described = format!("{:?}", within(answers.message()).await);
    assert!(described.contains("kagetsu.v1.Builds"), "{described}");
    cluster.start_build(build("test", 5)).await;
    let last = cluster.finished("test").await;
    assert_eq!((last.state(), last.positions), (JobState::Done, 5));
    cluster.end().await;
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}
