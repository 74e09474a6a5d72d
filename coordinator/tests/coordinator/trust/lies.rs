//! Wrong answers and false claims of workers that passed their calibration.

use kagetsu_proto::v1;
use kagetsu_proto::v1::JobState;

use super::{
    build_until_found, claim_a_win, facts, favour_the_worst, liar, suspicious, worker_named,
};
use crate::analyses::{keep, last};
use crate::world::{build, is_found_alone, position, within};

#[tokio::test(flavor = "multi_thread")]
async fn liars_kept_analysis_is_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 100.0);
    let line = "a1 o15 a15";
    let is_held = async || {
        let found = cluster
            .books()
            .await
            .lookup(v1::Position::from(&position(line)))
            .await;
        found.expect("readable").into_inner().facts.is_some()
    };
    let _liar = liar(&cluster, 7, favour_the_worst).await;
    last(keep(&cluster, line).await.expect("a place")).await;
    assert!(is_held().await);
    cluster.worker("honest");
    cluster.worker("truthful");
    build_until_found(&cluster, "worker 7", 10).await;
    assert!(!is_held().await, "no other worker has answered it");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lying_worker_is_found_and_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 30.0);
    let liar = liar(&cluster, 7, favour_the_worst).await;
    cluster.worker("honest");
    cluster.worker("truthful");
    let (found, job) = build_until_found(&cluster, "worker 7", 60).await;
    assert_eq!(
        (job.state(), Some(job.positions), job.set_aside),
        (JobState::Done, job.target, 0)
    );
    assert!(found.quarantine.contains("wrong about"), "{found:?}");
    assert_eq!(
        (found.idle.as_str(), found.tasks, found.refuted > 0),
        ("in quarantine", 0, true)
    );
    for name in ["honest", "truthful"] {
        let worker = worker_named(&cluster, name).await.expect("connected");
        assert!(
            worker.quarantine.is_empty() && worker.refuted == 0,
            "{worker:?}"
        );
    }
    is_found_alone(cluster.export().await);
    cluster.end().await;
    assert!(within(liar).await.expect("no panic") > 0, "it was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_that_cannot_be_repeated_is_no_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    let _liar = liar(&cluster, 7, claim_a_win).await;
    cluster.start_build(build("test", 5)).await;
    let job = cluster.finished("test").await;
    assert_eq!(
        (job.state(), job.positions),
        (JobState::Done, 5),
        "no other worker is there to ask"
    );
    let facts = facts(&cluster).await;
    assert!(
        facts
            .values()
            .all(|(score, proof)| proof.is_none() && *score <= 30_000),
        "{facts:?}"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_that_two_others_lack_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    let _liar = liar(&cluster, 7, claim_a_win).await;
    cluster.worker("honest");
    cluster.worker("truthful");
    let (found, job) = build_until_found(&cluster, "worker 7", 30).await;
    assert_eq!(
        (job.state(), Some(job.positions), job.set_aside),
        (JobState::Done, job.target, 0)
    );
    assert!(found.quarantine.contains("only one proven"), "{found:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn true_proofs_enter_the_book_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    // Black wins by continuous fours; every move of White's loses but where it takes longer.
    let roots = vec![(&position("h8 a1 i8 a15 j8 o1")).into()];
    let request = v1::StartRequest {
        roots,
        ..build("test", 1)
    };
    cluster.start_build(request).await;
    cluster.worker("honest");
    assert_eq!(cluster.finished("test").await.positions, 1);
    let proofs = facts(&cluster)
        .await
        .into_values()
        .filter(|(_, proof)| proof.is_some())
        .count();
    assert!(proofs >= 1, "{proofs}");
    cluster.end().await;
}
