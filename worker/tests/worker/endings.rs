//! A worker that is told to stop leaves nothing behind, and always ends.

use std::time::Duration;

use kagetsu_proto::FIRST_CALIBRATION_TASK;
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_worker::Config;

use crate::coordinator::{Coordinator, endless, is_handed_back, short, within};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_done_is_handed_back_before_the_goodbye() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    call.progress(0).await;
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
    assert!(matches!(call.hear_news().await, Some(Said::Goodbye(_))));
    drop(call);
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_work_is_finished_within_the_grace() {
    let mut coordinator = Coordinator::start();
    let patient = Config {
        grace: Duration::from_secs(1_000),
        ..Config::embedded("tested".into(), 1)
    };
    let worker = coordinator.worker_of(patient);
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
    coordinator.shutdown.cancel();
    let report = call.report().await;
    assert!(
        matches!(report.outcome, Some(Outcome::Answer(_))),
        "{report:?}"
    );
    call.acknowledge(&report).await;
    assert!(matches!(call.hear_news().await, Some(Said::Goodbye(_))));
    drop(call);
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_worker_with_an_answer_is_calibrated() {
    let mut coordinator = Coordinator::start();
    let patient = Config {
        grace: Duration::from_secs(1_000),
        ..Config::embedded("tested".into(), 1)
    };
    let worker = coordinator.worker_of(patient);
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &short()).await;
    let answer = call.report().await;
    coordinator.shutdown.cancel();
    // Another is handed back: so it has heard that it is to stop.
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
    assert!(matches!(call.hear_news().await, Some(Said::Goodbye(_))));
    drop(call);
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_although_nobody_acknowledges() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    call.progress(0).await;
    coordinator.shutdown.cancel();
    assert!(is_handed_back(&call.report().await));
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_although_the_coordinator_has_gone() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    call.progress(0).await;
    coordinator.shutdown.cancel();
    assert!(is_handed_back(&call.report().await));
    drop(call);
    drop(coordinator);
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}
