//! A worker that stops leaves nothing behind, and always ends.

use std::time::Duration;

use anyhow::Result;
use kagetsu_proto::FIRST_CALIBRATION_TASK;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_worker::Config;
use tokio::task::JoinHandle;

use crate::coordinator::{Call, Coordinator, endless, ends, is_handed_back, short};

/// A worker that finishes its running tasks before it stops.
fn patient() -> Config {
    Config {
        grace: Duration::from_secs(1_000),
        ..Config::embedded("tested".into(), 1)
    }
}

/// A worker that searches an endless task.
async fn searching() -> (Coordinator, JoinHandle<Result<()>>, Call) {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    call.progress(0).await;
    (coordinator, worker, call)
}

async fn ends_after_goodbye(worker: JoinHandle<Result<()>>, mut call: Call) {
    assert!(matches!(call.hear().await, Some(WorkerMessage::Goodbye(_))));
    drop(call);
    ends(worker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_tasks_are_handed_back_at_shutdown() {
    let (coordinator, worker, mut call) = searching().await;
    call.ask(2, &short()).await;
    coordinator.shutdown.cancel();
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let report = call.report().await;
        assert!(is_handed_back(&report), "{report:?}");
        call.acknowledge(&report).await;
        tasks.push(report.task);
    }
    tasks.sort_unstable();
    assert_eq!(tasks, [1, 2]);
    ends_after_goodbye(worker, call).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn running_task_is_finished_within_the_grace() {
    finishes_its_task(patient(), |coordinator, _| coordinator.shutdown.cancel()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn running_task_is_finished_before_an_update() {
    finishes_its_task(Config::embedded("tested".into(), 1), |_, config| {
        config.finish.cancel()
    })
    .await;
}

async fn finishes_its_task(config: Config, stop: impl FnOnce(&Coordinator, &Config)) {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker_of(config.clone());
    let (mut call, _) = coordinator.welcome().await;
    // Wait for its progress: on a busy machine a short search may end unseen.
    for task in 1..=10 {
        let effort = kagetsu_game::Effort::time(Duration::from_millis(250 << task));
        call.ask(task, &kagetsu_game::Question { effort, ..short() })
            .await;
        if let Some(report) = call.until_at_work().await {
            call.acknowledge(&report).await;
        } else {
            break;
        }
    }
    stop(&coordinator, &config);
    let report = call.report().await;
    assert!(
        matches!(report.outcome, Some(Outcome::Answer(_))),
        "{report:?}"
    );
    call.acknowledge(&report).await;
    ends_after_goodbye(worker, call).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_worker_with_an_answer_is_calibrated() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker_of(patient());
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &short()).await;
    let answer = call.report().await;
    coordinator.shutdown.cancel();
    // The worker hands back the next task, so it knows that it is to stop.
    for task in 2.. {
        call.ask(task, &short()).await;
        let report = call.report().await;
        call.acknowledge(&report).await;
        if is_handed_back(&report) {
            break;
        }
    }
    call.ask(FIRST_CALIBRATION_TASK, &short()).await;
    let report = call.report().await;
    assert!(
        report.task == FIRST_CALIBRATION_TASK && matches!(report.outcome, Some(Outcome::Answer(_))),
        "{report:?}"
    );
    call.acknowledge(&report).await;
    call.acknowledge(&answer).await;
    ends_after_goodbye(worker, call).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_ends_without_acknowledgements() {
    let (coordinator, worker, mut call) = searching().await;
    coordinator.shutdown.cancel();
    assert!(is_handed_back(&call.report().await));
    ends(worker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_ends_without_its_coordinator() {
    let (coordinator, worker, mut call) = searching().await;
    coordinator.shutdown.cancel();
    assert!(is_handed_back(&call.report().await));
    drop(call);
    drop(coordinator);
    ends(worker).await;
}
