//! Analyses: one position, answered by the connected workers.

use kagetsu_coordinator::Config;
use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use tonic::Streaming;

use crate::world::{
    Cluster, ScriptedWorker, accepted, answer, build, next, position, refused, within,
};

async fn analyze(cluster: &Cluster, line: &str) -> Streaming<v1::AnalyzeUpdate> {
    ask(
        cluster,
        Question::new(position(line), Effort::depth(4)),
        v1::Split::Seeded,
    )
    .await
}

async fn ask(
    cluster: &Cluster,
    question: Question,
    split: v1::Split,
) -> Streaming<v1::AnalyzeUpdate> {
    let request = v1::AnalyzeRequest {
        question: Some((&question).into()),
        split: split.into(),
        keep: false,
    };
    accepted(
        AnalysisClient::new(cluster.channel().await)
            .analyze(request)
            .await,
    )
}

/// Asks a question whose answer the book keeps.
pub(crate) async fn keep(
    cluster: &Cluster,
    line: &str,
) -> Result<Streaming<v1::AnalyzeUpdate>, tonic::Status> {
    let question = Some((&Question::new(position(line), Effort::depth(4))).into());
    let request = v1::AnalyzeRequest {
        question,
        split: v1::Split::Seeded.into(),
        keep: true,
    };
    AnalysisClient::new(cluster.channel().await)
        .analyze(request)
        .await
        .map(tonic::Response::into_inner)
}

pub(crate) async fn last(mut updates: Streaming<v1::AnalyzeUpdate>) -> v1::AnalyzeUpdate {
    loop {
        let update = next(&mut updates).await;
        if update.is_final {
            return update;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_waits_for_workers_and_says_so() {
    let cluster = Cluster::start(None);
    let mut updates = analyze(&cluster, "h8 i9").await;
    // The coordinator repeats the update while nothing changes.
    for _ in 0..2 {
        let waiting = next(&mut updates).await;
        assert_eq!(
            (waiting.workers, waiting.is_final, waiting.nodes),
            (0, false, 0)
        );
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
    let answer = last
        .answer
        .expect("an answer")
        .about(&position("h8 i9"))
        .expect("a legal one");
    assert!(
        answer
            .best()
            .is_some_and(|(_, verdict)| verdict.is_exact() && verdict.depth == 4)
    );
    assert_eq!(within(updates.message()).await.expect("a clean end"), None);
    cluster.end().await;
}

/// Two engines share one position, iteration by iteration, down to the depth that was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn workers_search_one_position_together() {
    let cluster = Cluster::start(None);
    cluster.worker("one");
    cluster.worker("two");
    let question = Question {
        width: 2,
        ..Question::new(position("h8 i9 h10 g9"), Effort::depth(9))
    };
    let mut updates = ask(&cluster, question, v1::Split::Unspecified).await;
    let mut depths = Vec::new();
    let last = loop {
        let update = next(&mut updates).await;
        if update.is_final {
            break update;
        }
        let answer = update
            .answer
            .expect("something is known")
            .about(&position("h8 i9 h10 g9"))
            .expect("legal");
        depths.extend(answer.best().map(|(_, verdict)| verdict.depth));
    };
    assert!(depths.is_sorted(), "{depths:?}");
    let answer = last
        .answer
        .expect("an answer")
        .about(&position("h8 i9 h10 g9"))
        .expect("a legal one");
    let exact = answer
        .verdicts()
        .iter()
        .take(2)
        .filter(|(_, verdict)| verdict.is_exact() && verdict.depth >= 9);
    assert!(
        exact.count() == 2
            || answer
                .best()
                .is_some_and(|(_, verdict)| verdict.proof.is_some()),
        "{answer:?}"
    );
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
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let updates = analyze(&cluster, "h8").await;
    let task = worker.task().await;
    drop(updates);
    assert_eq!(worker.revoked().await, task.task);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn analysis_precedes_builds_and_enters_the_book() {
    let cluster = Cluster::with_book();
    cluster.start_build(build("background", 20)).await;
    let updates = keep(&cluster, "h8 i9").await.expect("a question");
    // A new worker gets the client's question, although the build is older.
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let mut answered = 0;
    loop {
        let task = worker.task().await;
        if task.priority != 0 {
            break;
        }
        worker.answer(&task).await;
        answered += 1;
    }
    assert!(answered > 0);
    let answer = last(updates).await.answer.expect("an answer");
    let found = accepted(
        cluster
            .books()
            .await
            .lookup(v1::Position::from(&position("h8 i9")))
            .await,
    );
    assert_eq!(found.facts.expect("it is kept"), answer);
    cluster.end().await;

    let cluster = Cluster::start(None);
    let (code, message) = refused(keep(&cluster, "h8").await.map(tonic::Response::new));
    assert_eq!(code, tonic::Code::FailedPrecondition);
    assert!(message.contains("--book DIR"), "{message}");
    cluster.end().await;
}

/// A worker that calls every move a win: the client gets its answer, and the book has opinions.
#[tokio::test(flavor = "multi_thread")]
async fn unrepeatable_claim_is_kept_as_an_opinion() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = Some(folder.path().into());
    let config = Config {
        book,
        cache_mib: 8,
        trusts_workers: false,
        ..Config::default()
    };
    let cluster = Cluster::start_as(&config);
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let updates = keep(&cluster, "h8 i9 h10 g9").await.expect("a question");
    let answering = tokio::spawn(async move {
        loop {
            let task = worker.task().await;
            let mut reply = answer(&task);
            // The exam has priority 1, and is answered well.
            if task.priority == 0 {
                for verdict in &mut reply.verdicts {
                    verdict.score = 31_991;
                    verdict.set_bound(v1::Bound::Exact);
                    let (claim, kind) = (v1::Claim::Win.into(), v1::ProofKind::Vct.into());
                    verdict.proof = Some(v1::Proof {
                        claim,
                        kind,
                        plies: 9,
                    });
                    verdict.line = vec![verdict.r#move];
                }
            }
            worker
                .report(&task, v1::report::Outcome::Answer(reply))
                .await;
        }
    });
    let received = last(updates).await.answer.expect("an answer");
    answering.abort();
    assert!(
        received
            .verdicts
            .iter()
            .any(|verdict| verdict.proof.is_some())
    );
    let at = position("h8 i9 h10 g9");
    let found = accepted(cluster.books().await.lookup(v1::Position::from(&at)).await);
    let kept = found.facts.expect("it is kept").about(&at).expect("legal");
    assert!(
        !kept.is_empty()
            && kept
                .verdicts()
                .iter()
                .all(|(_, verdict)| verdict.proof.is_none()),
        "{kept:?}"
    );
    cluster.end().await;
}
