//! Analyses: one position, answered by whoever is there.

use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use tonic::Streaming;

use crate::cluster::{Cluster, position, within};
use crate::puppet::Puppet;

async fn analyze(cluster: &Cluster, line: &str) -> Streaming<v1::AnalyzeUpdate> {
    ask(cluster, Question::new(position(line), Effort::depth(4)), v1::Split::Seeded).await
}

async fn ask(cluster: &Cluster, question: Question, split: v1::Split) -> Streaming<v1::AnalyzeUpdate> {
    let request = v1::AnalyzeRequest { question: Some((&question).into()), split: split.into() };
    AnalysisClient::new(cluster.channel().await).analyze(request).await.expect("a question").into_inner()
}

async fn next(updates: &mut Streaming<v1::AnalyzeUpdate>) -> v1::AnalyzeUpdate {
    within(updates.message()).await.expect("no error").expect("an update")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_waits_for_workers_and_says_so() {
    let cluster = Cluster::start(None);
    let mut updates = analyze(&cluster, "h8 i9").await;
    // Two of them: it is said again while nothing happens.
    for _ in 0..2 {
        let waiting = next(&mut updates).await;
        assert_eq!((waiting.workers, waiting.is_final, waiting.nodes), (0, false, 0));
    }
    cluster.worker("one");
    cluster.worker("two");
    let last = loop {
        let update = next(&mut updates).await;
        if update.is_final {
            break update;
        }
    };
    assert!(last.workers > 0 && last.nodes > 0, "{last:?}");
    let answer = last.answer.expect("an answer").about(&position("h8 i9")).expect("a legal one");
    assert!(answer.best().is_some_and(|(_, verdict)| verdict.is_exact() && verdict.depth == 4));
    assert_eq!(within(updates.message()).await.expect("a clean end"), None);
    cluster.end().await;
}

/// Two engines share one position, iteration by iteration, down to the depth that was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn workers_search_one_position_together() {
    let cluster = Cluster::start(None);
    cluster.worker("one");
    cluster.worker("two");
    let question = Question { width: 2, ..Question::new(position("h8 i9 h10 g9"), Effort::depth(9)) };
    let mut updates = ask(&cluster, question, v1::Split::Unspecified).await;
    let mut depths = Vec::new();
    let last = loop {
        let update = next(&mut updates).await;
        if update.is_final {
            break update;
        }
        let answer = update.answer.expect("something is known").about(&position("h8 i9 h10 g9")).expect("legal");
        depths.extend(answer.best().map(|(_, verdict)| verdict.depth));
    };
    assert!(depths.is_sorted(), "{depths:?}");
    let answer = last.answer.expect("an answer").about(&position("h8 i9 h10 g9")).expect("a legal one");
    let exact = answer.verdicts().iter().take(2).filter(|(_, verdict)| verdict.is_exact() && verdict.depth >= 9);
    assert!(exact.count() == 2 || answer.best().is_some_and(|(_, verdict)| verdict.proof.is_some()), "{answer:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_game_has_no_moves_to_analyze() {
    let cluster = Cluster::start(None);
    cluster.worker("one");
    let mut updates = analyze(&cluster, "a1 a2 b1 b2 c1 c2 d1 d2 e1").await;
    loop {
        let update = next(&mut updates).await;
        if update.is_final {
            assert_eq!(update.answer.unwrap_or_default().verdicts, []);
            break;
        }
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_no_work_behind() {
    let cluster = Cluster::start(None);
    let mut puppet = Puppet::join(&cluster, 1).await;
    let updates = analyze(&cluster, "h8").await;
    let task = puppet.task().await;
    drop(updates);
    assert_eq!(puppet.revoked().await, task.task);
    cluster.end().await;
}
