//! A coordinator that is started anew: what its workers have at hand goes on.

use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message as Heard;

use crate::world::{Cluster, Puppet, build, hello};

/// A worker that comes back with a task of an earlier life.
async fn comes_back(cluster: &Cluster, instance: u64, held: v1::Held) -> (Puppet, v1::Welcome) {
    let again = v1::Hello {
        held: vec![held],
        ..hello(instance)
    };
    let mut puppet = Puppet::greet(cluster, again).await;
    let Heard::Welcome(welcome) = puppet.hear().await else {
        panic!("the first message is a welcome")
    };
    (puppet, welcome)
}

/// Starts a build, and ends the coordinator while a worker has its root at hand.
async fn first_life(folder: &std::path::Path) -> (v1::Task, v1::Held) {
    let cluster = Cluster::start(Some(folder));
    cluster.start_build(build("test", 10)).await;
    let mut puppet = Puppet::greet(&cluster, hello(1)).await;
    let Heard::Welcome(welcome) = puppet.hear().await else {
        panic!("the first message is a welcome")
    };
    let task = puppet.task().await;
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
    let (before, held) = first_life(folder.path()).await;
    let cluster = Cluster::start(Some(folder.path()));
    let (mut puppet, welcome) = comes_back(&cluster, 1, held.clone()).await;
    assert!(welcome.epoch > held.epoch);
    let now = puppet.task().await;
    assert!(
        now.task != before.task && now.question == before.question,
        "{now:?}"
    );
    puppet.answer(&now).await;
    assert_eq!(puppet.acknowledged().await.task, now.task);
    // It is in the book now: the same again is wanted no more.
    let (mut puppet, _) = comes_back(&cluster, 2, held).await;
    assert_eq!(puppet.revoked().await, before.task);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_was_asked_meanwhile_both_may_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, held) = first_life(folder.path()).await;
    let cluster = Cluster::start(Some(folder.path()));
    let mut other = Puppet::join(&cluster, 2).await;
    let asked = other.task().await;
    assert_eq!(asked.question, before.question);
    let (mut puppet, _) = comes_back(&cluster, 1, held).await;
    let now = puppet.task().await;
    assert_eq!((now.task, now.attempt), (asked.task, 2));
    puppet.answer(&now).await;
    assert_eq!(puppet.acknowledged().await.task, now.task);
    assert_eq!(other.revoked().await, asked.task, "it need not go on");
    let job = cluster.job("test").await;
    assert_eq!(job.positions, 1);
    cluster.end().await;
}
