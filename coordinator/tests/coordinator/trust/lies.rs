//! Wrong answers and false claims of workers that passed their calibration.

use kagetsu_proto::v1;

use super::{build_until_found, facts, favour_the_worst, liar, suspicious};
use crate::analyses::{keep, last};
use crate::world::{build, position};

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
