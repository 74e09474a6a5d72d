//! Restarts of workers and coordinators.

use anyhow::Result;
use kagetsu_game::Question;
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_worker::Config;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::coordinator::{Call, Coordinator, endless, ends, short, within};

/// Checks that the worker sends no report before that of a new task.
async fn says_nothing_before(call: &mut Call, task: u64) {
    call.ask(
        task,
        &Question {
            width: 3,
            ..short()
        },
    )
    .await;
    let report = call.report().await;
    assert_eq!(report.task, task, "it had nothing else to say");
    call.acknowledge(&report).await;
}

/// Ends a worker whose reports are not acknowledged.
async fn end(coordinator: &mut Coordinator, worker: JoinHandle<Result<()>>, call: Call) {
    coordinator.shutdown.cancel();
    ends(worker).await;
    drop(call);
    coordinator.shutdown = CancellationToken::new();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_outlives_its_worker() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = || Config {
        spool: Some(folder.path().join("spool")),
        ..Config::embedded("tested".into(), 1)
    };
    let reports = || {
        let files = std::fs::read_dir(folder.path().join("spool")).expect("a spool");
        files
            .filter(|file| {
                file.as_ref()
                    .is_ok_and(|file| file.path().extension().is_some_and(|e| e == "report"))
            })
            .count()
    };
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker_of(config());
    let (mut call, _) = coordinator.welcome_in(9).await;
    call.ask(5, &short()).await;
    // How long it was here is known only to the life that searched it.
    let report = v1::Report {
        ..call.report().await
    };
    assert_eq!(reports(), 1, "it was on disk before it was sent");
    end(&mut coordinator, worker, call).await;

    // The same life of the coordinator: the number says which task it is.
    let worker = coordinator.worker_of(config());
    let (mut call, hello) = coordinator.welcome_in(9).await;
    let held = &hello.held[..];
    assert!(
        matches!(
            held,
            [v1::Held {
                task: 5,
                attempt: 1,
                epoch: 9,
                question: Some(_)
            }]
        ),
        "{held:?}"
    );
    assert_eq!(call.report().await, report);
    end(&mut coordinator, worker, call).await;

    // The restarted worker reports it on request, under the new number, without a search.
    let _worker = coordinator.worker_of(config());
    let (mut call, _) = coordinator.welcome_in(10).await;
    says_nothing_before(&mut call, 1_000).await;
    call.ask(6, &short()).await;
    let again = call.report().await;
    assert_eq!(again, v1::Report { task: 6, ..report });
    // Acknowledged reports leave the spool after a while.
    let only_one = async || {
        while reports() > 1 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(reports(), 1);
    };
    within(only_one()).await;
    call.acknowledge(&again).await;
    call.ask(1_001, &short()).await;
    assert_eq!(call.report().await.task, 1_001);
    // Its own; the other is gone.
    within(only_one()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn search_goes_on_for_a_restarted_coordinator() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome_in(1).await;
    call.ask(1, &endless()).await;
    let before = call.progress(0).await[0].nodes;
    drop(call);
    let (mut call, hello) = coordinator.welcome_in(2).await;
    assert_eq!(hello.held.len(), 1);
    assert_eq!(
        call.beat().await.progress,
        [],
        "the coordinator of now knows no such task"
    );
    call.ask(70, &endless()).await;
    let after = call.progress(before).await;
    assert_eq!(after[0].task, 70, "the same search, further on");
}

#[tokio::test(flavor = "multi_thread")]
async fn unwanted_spooled_reports_are_dropped() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome_in(1).await;
    call.ask(1, &short()).await;
    let report = call.report().await;
    assert!(matches!(report.outcome, Some(Outcome::Answer(_))));
    call.ask(2, &endless()).await;
    call.progress(0).await;
    drop(call);
    let (mut call, hello) = coordinator.welcome_in(2).await;
    assert_eq!(hello.held.len(), 2);
    for held in hello.held {
        call.tell(CoordinatorMessage::Revoke(v1::Revoke { task: held.task }))
            .await;
    }
    says_nothing_before(&mut call, 3).await;
    drop(call);
    let (_call, hello) = coordinator.welcome_in(2).await;
    assert_eq!(hello.held, []);
}
