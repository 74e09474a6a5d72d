//! Builds that look for a proof with workers whose claims are verified.

use std::time::Duration;

use kagetsu_coordinator::Config;
use kagetsu_game::{
    Answer, Bound, Claim, Position, Proof, ProofKind, Provenance, Question, Score, Side, Verdict,
};
use kagetsu_proto::v1;
use kagetsu_proto::v1::JobState;
use kagetsu_proto::v1::report::Outcome;

use serde_json::json;

use crate::world::{Cluster, ScriptedWorker, accepted, answer, build, position, with, within};

/// Two rows of two that meet, one ply before: threats win after every reply.
const LOST: &str = "h8 a1 i9 a4 h10 a7 i7";

fn proves(line: &str) -> v1::StartRequest {
    v1::StartRequest {
        roots: vec![(&position(line)).into()],
        ..with(
            build("proof", 1),
            &json!({
                "policy": "prove", "side": "first", "nodes": 20_000, "top": 5,
                "depth": null, "positions": null,
            }),
        )
    }
}

fn doubting(folder: &std::path::Path) -> Config {
    Config {
        book: Some(folder.into()),
        cache_mib: 8,
        trusts_workers: false,
        ..Config::default()
    }
}

async fn known(cluster: &Cluster, line: &str) -> Option<kagetsu_game::Answer> {
    known_at(cluster, &position(line)).await
}

async fn known_at(cluster: &Cluster, at: &Position) -> Option<kagetsu_game::Answer> {
    let found = accepted(cluster.books().await.lookup(v1::Position::from(at)).await);
    found.answer.map(|answer| answer.about(at).expect("legal"))
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_find_a_proof_and_claims_are_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start_as(&doubting(folder.path()));
    cluster.worker("one");
    cluster.worker("two");
    cluster.start_build(proves(LOST)).await;
    let job = cluster.finished("proof").await;
    assert_eq!(
        (job.state(), job.frontier, job.set_aside),
        (JobState::Done, 0, 0),
        "{job:?}"
    );
    let root = known(&cluster, LOST).await.expect("it is in the book");
    let is_lost = |claim: Option<Claim>| claim == Some(Claim::Loss);
    assert!(
        root.verdicts()
            .iter()
            .all(|(_, verdict)| is_lost(verdict.proof.map(|proof| proof.claim))),
        "{root:?}"
    );
    // Every reply, up to symmetry.
    assert_eq!(root.len(), position(LOST).distinct_moves().len());
    let workers = cluster.workers().await;
    assert!(
        workers.iter().all(|worker| worker.quarantine.is_empty()),
        "{workers:?}"
    );
    cluster.end().await;
}

/// A worker claims that all replies in a quiet position lose. The claim is not found again, and
/// nothing is proven.
#[tokio::test(flavor = "multi_thread")]
async fn losses_that_nobody_can_repeat_prove_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start_as(&doubting(folder.path()));
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let small = with(proves("h8"), &json!({"nodes": 200}));
    cluster.start_build(small).await;
    loop {
        let task = worker.task().await;
        let is_asked = task
            .question
            .as_ref()
            .is_some_and(|question| question.beta.is_some());
        let mut reply = answer(&task);
        if !is_asked {
            worker.report(&task, Outcome::Answer(reply)).await;
            continue;
        }
        for verdict in &mut reply.verdicts {
            verdict.score = -31_992;
            verdict.set_bound(v1::Bound::Exact);
            let (claim, kind) = (v1::Claim::Loss.into(), v1::ProofKind::Vct.into());
            verdict.proof = Some(v1::Proof {
                claim,
                kind,
                plies: 8,
            });
            verdict.line = vec![verdict.r#move];
        }
        worker.report(&task, Outcome::Answer(reply)).await;
        worker.acknowledged().await;
        break;
    }
    let root = known(&cluster, "h8").await.expect("it was answered");
    assert!(
        !root.is_empty()
            && root
                .verdicts()
                .iter()
                .all(|(_, verdict)| verdict.proof.is_none()),
        "{root:?}"
    );
    let job = cluster.job("proof").await;
    assert_eq!(job.state(), JobState::Running, "{job:?}");
    cluster.end().await;
}

/// A worker claims losses within too few plies. The coordinator finds them, with its own plies.
#[tokio::test(flavor = "multi_thread")]
async fn claim_of_too_few_plies_is_lengthened() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start_as(&doubting(folder.path()));
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    cluster.start_build(proves(LOST)).await;
    let (shortened, found) = loop {
        let task = worker.task().await;
        let mut reply = answer(&task);
        let mut shortened = Vec::new();
        for verdict in &mut reply.verdicts {
            let Some(proof) = verdict.proof.as_mut().filter(|proof| proof.plies >= 8) else {
                continue;
            };
            proof.plies -= 2;
            verdict.score -= 2;
            shortened.push((verdict.r#move, proof.plies));
        }
        worker.report(&task, Outcome::Answer(reply)).await;
        worker.acknowledged().await;
        if !shortened.is_empty() {
            let position = &task.question.expect("a question").position.expect("named");
            let position = Position::try_from(position).expect("a position");
            break (
                shortened,
                known_at(&cluster, &position)
                    .await
                    .expect("it was answered"),
            );
        }
    };
    for (code, plies) in shortened {
        let verdicts = found.verdicts().iter();
        let mut proofs = verdicts.filter(|(m, _)| u32::from(m.code()) == code);
        let proof = proofs
            .next()
            .and_then(|(_, verdict)| verdict.proof)
            .expect("a proof");
        assert!(
            proof.claim == Claim::Loss && u32::from(proof.plies) > plies,
            "{proof:?}, and {plies} were claimed"
        );
    }
    cluster.end().await;
}

/// A worker wins after one reply, and does nothing more. The coordinator tries that win on the
/// other replies.
#[tokio::test(flavor = "multi_thread")]
async fn answer_to_one_reply_beats_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start_as(&Config {
        trusts_workers: true,
        ..doubting(folder.path())
    });
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    cluster.start_build(proves(LOST)).await;
    loop {
        let task = worker.task().await;
        let question = task.question.as_ref().expect("a question");
        let question = Question::try_from(question).expect("a good one");
        let is_reply = question.position.side() == Side::First;
        let outcome = if is_reply {
            answer(&task)
        } else {
            claiming_answer(&task, false)
        };
        worker.report(&task, Outcome::Answer(outcome)).await;
        worker.acknowledged().await;
        if is_reply {
            break;
        }
    }
    let beaten = async || {
        let root = known(&cluster, LOST).await.expect("it was answered");
        let proofs = root.verdicts().iter().filter_map(|(_, v)| v.proof);
        proofs
            .filter(|proof| (proof.claim, proof.kind) == (Claim::Loss, ProofKind::Tree))
            .count()
    };
    within(async {
        while beaten().await < 100 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let job = cluster.job("proof").await;
    assert_eq!(job.positions, 2, "the root and one reply: {job:?}");
    cluster.end().await;
}

/// Returns an answer without proofs, or one that claims a loss of all replies of a defender.
fn claiming_answer(task: &v1::Task, is_lost: bool) -> v1::Answer {
    let question =
        Question::try_from(task.question.as_ref().expect("a question")).expect("a good one");
    let is_about_loss = question.window.beta < Score::ZERO;
    let proof = Proof::new(Claim::Loss, ProofKind::Vct, 8);
    let by = Provenance {
        engine: "worker 1".into(),
        day: 20_000,
    };
    let verdict = |m| {
        let opinion =
            Score::opinion((question.position.play(m).expect("legal").key().0 >> 9) as i32 & 63);
        let proof = Some(proof).filter(|_| is_about_loss && is_lost);
        let score = proof.map_or(opinion, Proof::score);
        (
            m,
            Verdict {
                score,
                bound: Bound::Exact,
                depth: 2,
                nodes: 9,
                line: vec![m],
                proof,
                by: by.clone(),
            },
        )
    };
    let moves = if question.moves.is_empty() {
        question.position.distinct_moves()
    } else {
        question.moves.clone()
    };
    let all: Answer = moves.into_iter().map(verdict).collect();
    (&all).into()
}

/// Positions searched before the first loss is claimed. One pass informs 64 positions.
const MANY_POSITIONS: u64 = 100;

/// A proof is found while many positions still wait for an update and the job needs more work.
#[tokio::test(flavor = "multi_thread")]
async fn proof_over_a_large_tree_ends_the_job() {
    let cluster = Cluster::with_book();
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    // On a small board, because the proof needs an answer to each reply on the way to the root.
    let variant = "freestyle-7".parse().expect("a variant");
    let root = Position::from_line(variant, "d4 a1").expect("legal moves");
    let request = v1::StartRequest {
        roots: vec![(&root).into()],
        ..proves("h8 a1")
    };
    cluster.start_build(request).await;
    let works = async {
        for number in 0.. {
            let task = worker.task().await;
            worker
                .report(
                    &task,
                    Outcome::Answer(claiming_answer(&task, number > MANY_POSITIONS)),
                )
                .await;
        }
    };
    let job = tokio::select! {
        job = cluster.finished("proof") => job,
        () = works => unreachable!("there is always another"),
    };
    assert_eq!((job.state(), job.frontier), (JobState::Done, 0), "{job:?}");
    let found = known_at(&cluster, &root).await.expect("it is in the book");
    let won = found
        .verdicts()
        .iter()
        .any(|(_, v)| v.proof.is_some_and(|proof| proof.claim == Claim::Win));
    assert!(
        won && job.positions > MANY_POSITIONS,
        "{} positions",
        job.positions
    );
    cluster.end().await;
}
