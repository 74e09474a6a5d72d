//! Quarantine: how long it lasts and which names it covers.

use kagetsu_coordinator::Config;
use kagetsu_proto::v1;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_search::Engine;
use tonic::Code;

use super::{
    build_until_found, favour_the_worst, is_exam, liar, pretender, suspicious, worker_named,
};
use crate::world::{Cluster, ScriptedWorker, accepted, answer, build, hello};

/// A worker of our own engine that is wrong in the exam: in quarantine, and sent away.
async fn fails_the_exam(cluster: &Cluster, instance: u64) {
    let mut faulty = pretender(cluster, instance).await;
    let task = faulty.task().await;
    let mut wrong = answer(&task);
    wrong.verdicts[0].score ^= 4;
    faulty.report(&task, Outcome::Answer(wrong)).await;
    assert_eq!(faulty.refusal().await.code(), Code::FailedPrecondition);
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantine_lasts_until_release() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    fails_the_exam(&cluster, 1).await;
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    let listed = worker_named(&cluster, "worker 1")
        .await
        .expect("it is listed though it is not there");
    assert!(
        listed.is_absent && listed.quarantine.contains("whose answer is known"),
        "{listed:?}"
    );
    cluster.start_build(build("test", 10)).await;
    let mut freed = pretender(&cluster, 1).await;
    let listed = worker_named(&cluster, "worker 1").await.expect("connected");
    assert!(
        !listed.is_absent && listed.idle == "in quarantine" && listed.tasks == 0,
        "{listed:?}"
    );

    let release = async |name: &str| {
        WorkersClient::new(cluster.channel().await)
            .release(v1::ReleaseRequest { name: name.into() })
            .await
    };
    let refusal = release("unknown").await.expect_err("there is none");
    assert_eq!(refusal.code(), Code::NotFound);
    assert!(
        refusal
            .message()
            .contains("no worker 'unknown' is in quarantine; `kagetsu workers list`"),
        "{refusal}"
    );
    assert_eq!(accepted(release("worker 1").await).released, 1);
    // The worker is calibrated again, and then gets tasks.
    loop {
        let task = freed.task().await;
        freed.answer(&task).await;
        if !is_exam(&task) {
            break;
        }
    }
    let listed = worker_named(&cluster, "worker 1").await.expect("connected");
    assert_eq!(listed.quarantine, "", "{listed:?}");
    drop(freed);
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    assert_eq!(
        worker_named(&cluster, "worker 1").await,
        None,
        "its release is remembered too"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantine_of_wrong_answers_covers_the_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 30.0);
    let first = liar(&cluster, 7, favour_the_worst).await;
    cluster.worker("honest");
    cluster.worker("truthful");
    build_until_found(&cluster, "worker 7", 60).await;
    first.abort();
    // Another process, of the same name.
    let again = v1::Hello {
        name: "worker 7".into(),
        engine: Engine::NAME.into(),
        ..hello(8)
    };
    let start = async |cluster: &Cluster| {
        let channel = cluster.channel().await;
        ScriptedWorker::say_first(channel, WorkerMessage::Hello(again.clone()))
            .await
            .expect("a stream")
    };
    let named = async |cluster: &Cluster| {
        cluster
            .workers()
            .await
            .into_iter()
            .filter(|worker| worker.name == "worker 7")
            .collect::<Vec<_>>()
    };
    let second = start(&cluster).await;
    let listed = named(&cluster).await;
    let listed = listed
        .iter()
        .find(|worker| !worker.is_absent && worker.done == 0)
        .expect("connected");
    assert!(listed.quarantine.contains("wrong about"), "{listed:?}");
    assert_eq!(listed.idle, "in quarantine");
    drop(second);
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    let mut third = start(&cluster).await;
    let listed = named(&cluster).await;
    assert_eq!(
        listed.len(),
        1,
        "what has gone is listed no more: {listed:?}"
    );
    assert_eq!(
        (listed[0].idle.as_str(), listed[0].is_absent),
        ("in quarantine", false),
        "{listed:?}"
    );
    WorkersClient::new(cluster.channel().await)
        .release(v1::ReleaseRequest {
            name: "worker 7".into(),
        })
        .await
        .expect("it was in quarantine");
    assert!(
        is_exam(&third.task().await),
        "it has everything to show anew"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repaired_worker_is_calibrated_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    fails_the_exam(&cluster, 1).await;
    let mended = v1::Hello {
        name: "worker 1".into(),
        engine: Engine::NAME.into(),
        ..hello(2)
    };
    let mut mended = ScriptedWorker::greet(&cluster, mended).await;
    assert!(is_exam(&mended.task().await));
    let listed = cluster.workers().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (listed[0].idle.as_str(), listed[0].quarantine.as_str()),
        ("being examined", "")
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_quarantine_list_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    suspicious(folder.path(), 0.0).end().await;
    std::fs::write(folder.path().join("quarantine.toml"), "[[worker]]\nname = ").expect("room");
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        ..Config::default()
    };
    let refused =
        kagetsu_coordinator::Server::start(&config, tokio_util::sync::CancellationToken::new());
    let error = format!("{:#}", refused.err().expect("a refusal"));
    assert!(
        error.contains("quarantine.toml is damaged; mend it, or move it away"),
        "{error}"
    );
}
