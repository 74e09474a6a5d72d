//! Connections come and go; what is at work and what is done stays.

use kagetsu_proto::v1;
use tonic::Status;

use crate::coordinator::{Coordinator, endless, short, within};

/// Number and attempt of what a worker holds.
fn names(hello: &v1::Hello) -> Vec<(u64, u32)> {
    hello
        .held
        .iter()
        .map(|held| (held.task, held.attempt))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_repeated_until_it_is_acknowledged() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, first) = coordinator.welcome().await;
    assert_eq!(first.held, []);
    call.ask(5, &short()).await;
    let report = call.report().await;
    drop(call);

    for _ in 0..2 {
        let (mut call, hello) = coordinator.welcome().await;
        assert_eq!(hello.instance, first.instance);
        assert_eq!(names(&hello), [(5, 1)]);
        assert_eq!(call.report().await, report);
    }

    let (mut call, _) = coordinator.welcome().await;
    assert_eq!(call.report().await, report);
    call.acknowledge(&report).await;
    // The next answer shows that the acknowledgement was received.
    call.ask(6, &short()).await;
    let next = call.report().await;
    call.acknowledge(&next).await;
    call.ask(7, &endless()).await;
    call.progress(0).await;
    drop(call);
    let (_call, hello) = coordinator.welcome().await;
    assert_eq!(names(&hello), [(7, 1)], "only what is at work");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_goes_on_without_a_connection() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    let before = call.progress(0).await[0].nodes;
    drop(call);
    let (mut call, hello) = coordinator.welcome().await;
    assert_eq!(names(&hello), [(1, 1)]);
    let after = call.progress(before).await;
    assert_eq!(after[0].task, 1, "the same search, further on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_is_not_ready_is_tried_again() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    for _ in 0..3 {
        coordinator.refuse(Status::unavailable("starting")).await;
    }
    coordinator.welcome().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_coordinator_ends_the_worker() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker();
    coordinator
        .refuse(Status::failed_precondition("use programs of one version"))
        .await;
    let error = within(worker)
        .await
        .expect("no panic")
        .expect_err("a refusal");
    assert!(
        error.to_string().contains("use programs of one version"),
        "{error}"
    );
}
