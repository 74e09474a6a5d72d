//! Calibration, quarantine, and answers that are verified.

mod calibration;
mod lies;
mod quarantine;

use std::collections::BTreeMap;
use std::path::Path;

use kagetsu_coordinator::Config;
use kagetsu_game::{Answer, Position, Variant};
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::Engine;

use crate::world::{Cluster, ScriptedWorker, answer, build, hello};

/// Starts a coordinator that verifies this percentage of the answers.
fn suspicious(folder: &Path, verify_share: f64) -> Cluster {
    Cluster::start_as(&Config {
        book: Some(folder.into()),
        cache_mib: 8,
        verify_share,
        ..Config::default()
    })
}

fn is_exam(task: &v1::Task) -> bool {
    task.task >= FIRST_CALIBRATION_TASK
}

/// Returns the number of calibration questions of a worker that plays every variant.
fn exam_length() -> usize {
    let is_gomoku = |variant| matches!(variant, Variant::Gomoku { .. });
    Variant::all()
        .map(|variant| 1 + usize::from(is_gomoku(variant)))
        .sum()
}

/// Connects a worker that claims to run our own engine.
async fn pretender(cluster: &Cluster, instance: u64) -> ScriptedWorker {
    let hello = v1::Hello {
        engine: Engine::NAME.into(),
        ..hello(instance)
    };
    ScriptedWorker::greet(cluster, hello).await
}

/// A worker that passes its calibration and changes all other answers by `lie`.
async fn liar(
    cluster: &Cluster,
    instance: u64,
    lie: fn(v1::Answer) -> v1::Answer,
) -> tokio::task::JoinHandle<u64> {
    let mut worker = pretender(cluster, instance).await;
    tokio::spawn(async move {
        let mut lies = 0;
        while let Some(message) = worker.next().await {
            let CoordinatorMessage::Task(task) = message else {
                continue;
            };
            let honest = answer(&task);
            lies += u64::from(!is_exam(&task));
            let reply = if is_exam(&task) { honest } else { lie(honest) };
            if !worker.try_report(&task, Outcome::Answer(reply)).await {
                break;
            }
        }
        lies
    })
}

/// Makes the worst move the best by far.
fn favour_the_worst(mut answer: v1::Answer) -> v1::Answer {
    let best = answer
        .verdicts
        .iter()
        .map(|verdict| verdict.score)
        .max()
        .unwrap_or_default();
    if let Some(worst) = answer.verdicts.last_mut() {
        *worst = v1::Verdict {
            score: (best + 900).min(29_000),
            proof: None,
            line: vec![worst.r#move],
            ..worst.clone()
        };
        worst.set_bound(v1::Bound::Exact);
    }
    answer
}

/// Claims that the best move wins, without a line.
fn claim_a_win(mut answer: v1::Answer) -> v1::Answer {
    if let Some(best) = answer.verdicts.first_mut() {
        let proof = v1::Proof {
            claim: v1::Claim::Win.into(),
            kind: v1::ProofKind::Vct.into(),
            plies: 9,
        };
        *best = v1::Verdict {
            score: 31_991,
            proof: Some(proof),
            ..best.clone()
        };
        best.set_bound(v1::Bound::Exact);
    }
    answer
}

/// The exact verdicts of a book, by position and move.
async fn facts(cluster: &Cluster) -> BTreeMap<(String, u32), (i32, Option<v1::Proof>)> {
    let mut facts = BTreeMap::new();
    for found in cluster.export().await {
        let position =
            Position::try_from(found.position.as_ref().expect("named")).expect("a position");
        let answer = Answer::try_from(found.facts.as_ref().expect("searched")).expect("an answer");
        for verdict in v1::Answer::from(&answer)
            .verdicts
            .iter()
            .filter(|v| v.bound() == v1::Bound::Exact)
        {
            facts.insert(
                (position.key().to_string(), verdict.r#move),
                (verdict.score, verdict.proof),
            );
        }
    }
    facts
}

async fn worker_named(cluster: &Cluster, name: &str) -> Option<v1::Worker> {
    cluster
        .workers()
        .await
        .into_iter()
        .find(|worker| worker.name == name)
}

/// Builds more and more until a worker is quarantined: chance decides which positions it gets and
/// which answers are checked. Returns the worker, and the job when all its answers are replaced.
async fn build_until_found(cluster: &Cluster, name: &str, positions: u64) -> (v1::Worker, v1::Job) {
    for rounds in 1.. {
        let request = build("test", rounds * positions);
        cluster.start_build(request.clone()).await;
        cluster.finished("test").await;
        let worker = worker_named(cluster, name)
            .await
            .expect("it is still there");
        if !worker.quarantine.is_empty() {
            cluster.start_build(request).await;
            return (worker, cluster.finished("test").await);
        }
    }
    unreachable!("there is always more to build")
}

/// Answers the calibration questions and returns the first other task.
async fn passes(worker: &mut ScriptedWorker) -> v1::Task {
    loop {
        match worker.task().await {
            task if is_exam(&task) => worker.answer(&task).await,
            task => return task,
        }
    }
}
