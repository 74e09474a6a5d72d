//! Heartbeats on their own stream.

use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::workers_client::WorkersClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::world::{Cluster, ScriptedWorker, accepted, answer, next, position};

/// A stream of beats.
pub(crate) async fn beats(cluster: &Cluster) -> mpsc::Sender<v1::Beat> {
    let (out, beats) = mpsc::channel(1);
    let mut client = WorkersClient::new(cluster.channel().await);
    tokio::spawn(async move { client.beat(ReceiverStream::new(beats)).await });
    out
}

pub(crate) fn beat(
    instance: u64,
    task: &v1::Task,
    nodes: u64,
    so_far: Option<v1::Answer>,
) -> v1::Beat {
    v1::Beat {
        instance,
        progress: vec![v1::TaskProgress {
            task: task.task,
            nodes,
            so_far,
        }],
    }
}

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
    let beats = beats(&cluster).await;
    // A heartbeat of an unknown worker has no effect.
    beats
        .send(beat(99, &task, 77, None))
        .await
        .expect("it listens");
    beats
        .send(beat(1, &task, 1_234, None))
        .await
        .expect("it listens");
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
