//! Heartbeats on their own stream.

use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::report::Outcome;

use crate::world::{Cluster, ScriptedWorker, accepted, answer, next, position};

pub(crate) async fn analysis(cluster: &Cluster) -> tonic::Streaming<v1::AnalyzeUpdate> {
    let question = Question::new(position("h8 i9"), Effort::depth(4));
    let request = v1::AnalyzeRequest {
        question: Some((&question).into()),
        split: v1::Split::Seeded.into(),
        ..Default::default()
    };
    accepted(
        AnalysisClient::new(cluster.channel().await)
            .analyze(request)
            .await,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_heard_by_its_beats_alone() {
    let cluster = Cluster::start(None);
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let mut updates = analysis(&cluster).await;
    let task = worker.task().await;
    // A heartbeat of an unknown worker has no effect.
    worker.beat(99, &task, 77, None).await;
    worker.beat(1, &task, 1_234, None).await;
    while next(&mut updates).await.nodes != 1_234 {}
    let report = answer(&task);
    worker.report(&task, Outcome::Answer(report.clone())).await;
    let mut last = next(&mut updates).await;
    while !last.is_final {
        last = next(&mut updates).await;
    }
    assert_eq!(last.answer, Some(report));
    cluster.end().await;
}
