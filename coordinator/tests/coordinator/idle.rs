//! The reasons that a worker is idle or a job makes no progress.

use kagetsu_coordinator::Config;
use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::Engine;

use crate::world::{Cluster, ScriptedWorker, accepted, build, hello, named, next};

async fn idle(cluster: &Cluster, name: &str) -> String {
    let workers = cluster.workers().await;
    workers
        .into_iter()
        .find(|worker| worker.name == name)
        .expect("connected")
        .idle
}

async fn job(cluster: &Cluster) -> v1::Job {
    cluster.job("test").await
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_worker_says_why() {
    let cluster = Cluster::with_book();
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let idle = async || idle(&cluster, "worker 1").await;
    assert_eq!(idle().await, "no tasks: no job is running");
    cluster.start_build(build("test", 10)).await;
    let task = worker.task().await;
    assert_eq!(idle().await, "");
    cluster
        .builds()
        .await
        .pause(named("test"))
        .await
        .expect("a job");
    assert_eq!(worker.revoked().await, task.task);
    assert_eq!(idle().await, "no tasks: the job test is paused");
    cluster
        .builds()
        .await
        .cancel(named("test"))
        .await
        .expect("a job");
    assert_eq!(idle().await, "no tasks: no job is running");
    // The job has the root alone until the root is answered.
    cluster.start_build(build("another", 10)).await;
    worker.task().await;
    let _second = ScriptedWorker::join(&cluster, 2).await;
    assert_eq!(self::idle(&cluster, "worker 2").await, "no tasks");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_variant_is_told_by_worker_and_job() {
    let cluster = Cluster::with_book();
    let started = accepted(cluster.builds().await.start(build("test", 1)).await);
    assert_eq!(started.waits_for, "no worker is connected");
    let mut jobs = accepted(cluster.builds().await.watch(named("test")).await);
    // An update may be repeated before there is a new one.
    let mut before = None;
    let mut next_reason = async || loop {
        let words = next(&mut jobs).await.waits_for;
        if before.as_ref() != Some(&words) {
            before = Some(words.clone());
            return words;
        }
    };
    assert_eq!(next_reason().await, "no worker is connected");
    let only = v1::Hello {
        variants: vec!["xiangqi".into()],
        ..hello(1)
    };
    let _xiangqi = ScriptedWorker::greet(&cluster, only).await;
    assert_eq!(
        next_reason().await,
        "the only worker connected does not play freestyle-15"
    );
    assert_eq!(
        idle(&cluster, "worker 1").await,
        "no tasks of its variants: the job test is of freestyle-15"
    );
    let other = v1::Hello {
        variants: vec!["surakarta".into()],
        ..hello(2)
    };
    let _surakarta = ScriptedWorker::greet(&cluster, other).await;
    assert_eq!(
        next_reason().await,
        "none of the 2 workers connected plays freestyle-15"
    );
    assert_eq!(
        job(&cluster).await.waits_for,
        "none of the 2 workers connected plays freestyle-15"
    );

    let question = Question::new(Position::start(Variant::FREESTYLE_15), Effort::depth(2));
    let request = v1::AnalyzeRequest {
        question: Some((&question).into()),
        ..Default::default()
    };
    let response = AnalysisClient::new(cluster.channel().await)
        .analyze(request)
        .await
        .expect("a place");
    let first = next(&mut response.into_inner()).await;
    assert_eq!(
        (first.workers, first.waits_for.as_str()),
        (0, "none of the 2 workers connected plays freestyle-15")
    );

    let mut worker = ScriptedWorker::join(&cluster, 3).await;
    let task = worker.task().await;
    assert_eq!(job(&cluster).await.waits_for, "");
    worker
        .report(&task, Outcome::Failed("no memory".into()))
        .await;
    worker.task().await;
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_in_its_exam_and_one_on_probation_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        ..Config::default()
    };
    let cluster = Cluster::start_as(&config);
    cluster.start_build(build("test", 10)).await;
    let ours = v1::Hello {
        engine: Engine::NAME.into(),
        slots: 2,
        ..hello(1)
    };
    let mut worker = ScriptedWorker::greet(&cluster, ours).await;
    let mut task = worker.task().await;
    assert_eq!(idle(&cluster, "worker 1").await, "being examined");
    assert_eq!(
        job(&cluster).await.waits_for,
        "the only worker that plays freestyle-15 is being examined"
    );
    while task.task >= FIRST_CALIBRATION_TASK {
        worker.answer(&task).await;
        task = worker.task().await;
    }
    assert_eq!(job(&cluster).await.waits_for, "");
    worker
        .report(&task, Outcome::Failed("no memory".into()))
        .await;
    worker.task().await;
    assert_eq!(idle(&cluster, "worker 1").await, "on probation");
    cluster.end().await;
}
