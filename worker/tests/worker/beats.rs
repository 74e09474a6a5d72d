//! Signs of life.

use std::time::Duration;

use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;

use crate::coordinator::{Coordinator, endless, short};

/// More reports than a stream has room for.
const REPORTS: u64 = 400;

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_have_their_own_stream() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, hello) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    let mut nodes = 0;
    while nodes == 0 {
        let beat = call.beat().await;
        assert_eq!(beat.instance, hello.instance);
        nodes = beat.progress.first().map_or(0, |progress| progress.nodes);
    }
    call.ask(2, &short()).await;
    let later = call.beat().await;
    assert_eq!(later.progress[0].task, 1);
    // On the other stream there was none.
    call.tell(CoordinatorMessage::Revoke(v1::Revoke { task: 1 }))
        .await;
    let Some(WorkerMessage::Report(report)) = call.hear().await else {
        panic!("a report, and nothing before it")
    };
    assert_eq!(report.task, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_welcome_there_are_no_heartbeats() {
    let mut coordinator = Coordinator::start();
    coordinator.hesitates = Duration::from_millis(200);
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &short()).await;
    let Some(WorkerMessage::Report(report)) = call.hear().await else {
        panic!("a report, and nothing before it")
    };
    assert_eq!(report.task, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_with_unread_reports_sends_heartbeats() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    let quick = Question {
        effort: Effort::depth(1),
        ..short()
    };
    for task in 1..=REPORTS {
        call.ask(task, &quick).await;
    }
    call.ask(REPORTS + 1, &endless()).await;
    // All others are done when the last runs, and no report was read.
    let is_last = |beat: &v1::Beat| {
        beat.progress
            .iter()
            .any(|progress| progress.task == REPORTS + 1)
    };
    while !is_last(&call.beat().await) {}
    let mut before = 0;
    for _ in 0..5 {
        let beat = call.beat().await;
        assert!(beat.progress[0].nodes >= before, "{beat:?}");
        before = beat.progress[0].nodes;
    }
    for task in 1..=REPORTS {
        let Some(WorkerMessage::Report(report)) = call.hear().await else {
            panic!("a report, and no beat among them")
        };
        assert_eq!(report.task, task);
    }
}
