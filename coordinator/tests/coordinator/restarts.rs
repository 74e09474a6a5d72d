//! A restarted coordinator: its workers go on with their tasks.

use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;

use crate::world::{Cluster, ScriptedWorker, build, hello};

/// Connects a worker that still has a task of the coordinator before its restart.
async fn reconnect(
    cluster: &Cluster,
    instance: u64,
    held: v1::Held,
) -> (ScriptedWorker, v1::Welcome) {
    let again = v1::Hello {
        held: vec![held],
        ..hello(instance)
    };
    let mut worker = ScriptedWorker::greet(cluster, again).await;
    let CoordinatorMessage::Welcome(welcome) = worker.hear().await else {
        panic!("the first message is a welcome")
    };
    (worker, welcome)
}

/// Starts a build, and ends the coordinator while a worker searches the root.
async fn before_restart(folder: &std::path::Path) -> (v1::Task, v1::Held) {
    let cluster = Cluster::start(Some(folder));
    cluster.start_build(build("test", 10)).await;
    let mut worker = ScriptedWorker::greet(&cluster, hello(1)).await;
    let CoordinatorMessage::Welcome(welcome) = worker.hear().await else {
        panic!("the first message is a welcome")
    };
    let task = worker.task().await;
    cluster.end().await;
    let question = task.question.clone();
    (
        task.clone(),
        v1::Held {
            task: task.task,
            attempt: task.attempt,
            epoch: welcome.epoch,
            question,
        },
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_keeps_its_tasks_under_a_new_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, held) = before_restart(folder.path()).await;
    let cluster = Cluster::start(Some(folder.path()));
    let (mut worker, welcome) = reconnect(&cluster, 1, held.clone()).await;
    assert!(welcome.epoch > held.epoch);
    let now = worker.task().await;
    assert!(
        now.task != before.task && now.question == before.question,
        "{now:?}"
    );
    worker.answer(&now).await;
    assert_eq!(worker.acknowledged().await.task, now.task);
    // The book has the answer now and needs no second one.
    let (mut worker, _) = reconnect(&cluster, 2, held).await;
    assert_eq!(worker.revoked().await, before.task);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn task_reissued_meanwhile_accepts_both_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, held) = before_restart(folder.path()).await;
    let cluster = Cluster::start(Some(folder.path()));
    let mut other = ScriptedWorker::join(&cluster, 2).await;
    let task = other.task().await;
    assert_eq!(task.question, before.question);
    let (mut worker, _) = reconnect(&cluster, 1, held).await;
    let now = worker.task().await;
    assert_eq!((now.task, now.attempt), (task.task, 2));
    worker.answer(&now).await;
    assert_eq!(worker.acknowledged().await.task, now.task);
    assert_eq!(other.revoked().await, task.task, "it need not go on");
    let job = cluster.job("test").await;
    assert_eq!(job.positions, 1);
    cluster.end().await;
}
