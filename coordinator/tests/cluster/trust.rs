//! Calibration, quarantine, and answers that are verified.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use kagetsu_coordinator::Config;
use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1::JobState;
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as Heard;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::Engine;
use tonic::Code;

use crate::analyses::{keep, last};
use crate::cluster::{Cluster, build, is_found_alone, position, within};
use crate::puppet::{Puppet, answer, hello};

/// A coordinator that asks for so many percent of the answers twice.
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

/// A puppet that says it is our own engine.
async fn pretender(cluster: &Cluster, instance: u64) -> Puppet {
    let hello = v1::Hello {
        engine: Engine::NAME.into(),
        ..hello(instance)
    };
    Puppet::say_first(cluster.channel().await, Said::Hello(hello))
        .await
        .expect("a stream")
}

/// A worker that passes its calibration and changes all other answers by `lie`.
async fn liar(
    cluster: &Cluster,
    instance: u64,
    lie: fn(v1::Answer) -> v1::Answer,
) -> tokio::task::JoinHandle<u64> {
    let mut puppet = pretender(cluster, instance).await;
    tokio::spawn(async move {
        let mut lies = 0;
        while let Some(heard) = puppet.next().await {
            let Heard::Task(task) = heard else { continue };
            let honest = answer(&task);
            lies += u64::from(!is_exam(&task));
            let said = if is_exam(&task) { honest } else { lie(honest) };
            if !puppet.try_report(&task, Outcome::Answer(said)).await {
                break;
            }
        }
        lies
    })
}

/// The worst move is the best by far.
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

/// Claims a win of the best move, without a way to it.
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
        cluster
            .builds()
            .await
            .start(request.clone())
            .await
            .expect("a job");
        cluster.finished("test").await;
        let worker = worker_named(cluster, name)
            .await
            .expect("it is still there");
        if !worker.quarantine.is_empty() {
            cluster.builds().await.start(request).await.expect("a job");
            return (worker, cluster.finished("test").await);
        }
    }
    unreachable!("there is always more to build")
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_calibration_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let mut faulty = pretender(&cluster, 1).await;
    let task = faulty.task().await;
    assert!(is_exam(&task));
    let mut wrong = answer(&task);
    wrong.verdicts[0].score ^= 4;
    faulty.report(&task, Outcome::Answer(wrong)).await;
    let status = faulty.refusal().await;
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(
        status.message().contains("wrong answers") && status.message().contains("memory"),
        "{status}"
    );
    // It may not come back under the same name, but a sound one works.
    cluster.worker("sound");
    let job = cluster.finished("test").await;
    assert_eq!((job.state(), job.positions), (JobState::Done, 10));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn handed_back_calibration_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    let mut leaves = pretender(&cluster, 1).await;
    let first = leaves.task().await;
    leaves
        .report(&first, Outcome::HandedBack(v1::HandedBack {}))
        .await;
    assert_eq!(leaves.acknowledged().await.task, first.task);
    let listed = worker_named(&cluster, "puppet 1").await.expect("connected");
    assert_eq!(
        (listed.idle.as_str(), listed.quarantine.as_str()),
        ("being examined", "")
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_said_again_and_again_is_no_exam() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let mut lazy = pretender(&cluster, 1).await;
    let first = lazy.task().await;
    for _ in 0..20 {
        lazy.answer(&first).await;
        assert_eq!(lazy.acknowledged().await.task, first.task);
    }
    let listed = worker_named(&cluster, "puppet 1").await.expect("connected");
    assert_eq!((listed.idle.as_str(), listed.tasks), ("being examined", 0));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_with_invented_tasks_is_calibrated() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let held = v1::Held {
        task: 7,
        attempt: 1,
        ..v1::Held::default()
    };
    let hello = v1::Hello {
        held: vec![held],
        slots: 4,
        ..hello(1)
    };
    let mut stranger = Puppet::say_first(cluster.channel().await, Said::Hello(hello))
        .await
        .expect("welcome");
    let mut exam = Vec::new();
    loop {
        match within(stranger.hear()).await {
            Heard::Task(task) => exam.push(task),
            Heard::Revoke(revoke) => assert_eq!(revoke.task, 7),
            _ => {}
        }
        if exam.len() == 5 {
            break;
        }
    }
    assert!(exam.iter().all(is_exam), "{exam:?}");
    for task in &exam {
        let listed = worker_named(&cluster, "puppet 1").await.expect("connected");
        assert_eq!((listed.idle.as_str(), listed.tasks), ("being examined", 0));
        stranger.answer(task).await;
        assert_eq!(stranger.acknowledged().await.task, task.task);
    }
    assert!(!is_exam(&stranger.task().await), "it has passed");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn earlier_calibration_does_not_revoke_the_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let mut first = Puppet::join(&cluster, 1).await;
    let exam = first.task().await;
    assert!(is_exam(&exam), "{exam:?}");
    let held = v1::Held {
        task: exam.task,
        attempt: exam.attempt,
        epoch: 4_711,
        question: exam.question,
    };
    let hello = v1::Hello {
        held: vec![held],
        slots: 4,
        ..hello(2)
    };
    let mut again = Puppet::say_first(cluster.channel().await, Said::Hello(hello))
        .await
        .expect("welcome");
    loop {
        match within(again.hear()).await {
            Heard::Task(task) if is_exam(&task) => again.answer(&task).await,
            Heard::Task(_) => break,
            Heard::Revoke(revoke) => panic!("{revoke:?}"),
            _ => {}
        }
    }
    cluster.end().await;
}

/// The next task that is none of the exam; those of the exam are answered.
async fn passes(puppet: &mut Puppet) -> v1::Task {
    loop {
        match puppet.task().await {
            task if is_exam(&task) => puppet.answer(&task).await,
            task => return task,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn task_at_hand_is_resumed_after_calibration() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let mut puppet = Puppet::join(&cluster, 1).await;
    let before = passes(&mut puppet).await;
    cluster.end().await;
    let cluster = suspicious(folder.path(), 0.0);
    let found = async || {
        let job = cluster
            .builds()
            .await
            .get(v1::JobName {
                name: "test".into(),
            })
            .await
            .expect("a job")
            .into_inner();
        (job.positions, cluster.export().await.len())
    };
    let held = v1::Held {
        task: before.task,
        attempt: 1,
        epoch: 4_711,
        question: before.question.clone(),
    };
    let hello = v1::Hello {
        held: vec![held],
        ..hello(2)
    };
    let mut puppet = Puppet::say_first(cluster.channel().await, Said::Hello(hello))
        .await
        .expect("welcome");
    // It is calibrated first. An earlier report counts for nothing, and is not acknowledged.
    puppet.answer(&before).await;
    for _ in 0..5 {
        let question = puppet.task().await;
        assert!(is_exam(&question), "{question:?}");
        assert_eq!(found().await, (0, 0));
        puppet.answer(&question).await;
        assert_eq!(puppet.acknowledged().await.task, question.task);
    }
    // Then it gets its task anew, under a number of this process.
    let at_hand = puppet.task().await;
    assert_eq!(at_hand.question, before.question);
    puppet.answer(&at_hand).await;
    assert_eq!(puppet.acknowledged().await.task, at_hand.task);
    assert_eq!(found().await.0, 1);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_waits_for_a_worker_in_calibration() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    let mut examined = pretender(&cluster, 1).await;
    let exam = examined.task().await;
    assert!(is_exam(&exam));
    let mut liar = pretender(&cluster, 7).await;
    cluster
        .builds()
        .await
        .start(build("test", 1))
        .await
        .expect("a job");
    let task = passes(&mut liar).await;
    liar.report(&task, Outcome::Answer(claim_a_win(answer(&task))))
        .await;
    for _ in 0..20 {
        let job = cluster
            .builds()
            .await
            .get(v1::JobName {
                name: "test".into(),
            })
            .await
            .expect("a job")
            .into_inner();
        assert_eq!(job.positions, 0, "an opinion already");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    examined.answer(&exam).await;
    let again = passes(&mut examined).await;
    assert_eq!(again.question, task.question);
    examined.answer(&again).await;
    assert_eq!(cluster.finished("test").await.state(), JobState::Done);
    let liar = worker_named(&cluster, "puppet 7").await.expect("connected");
    assert!(liar.quarantine.contains("wrong about"), "{liar:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_liar_said_to_a_person_is_taken_back_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 100.0);
    let asked = "a1 o15 a15";
    let is_held = async || {
        let found = cluster
            .books()
            .await
            .lookup(v1::Position::from(&position(asked)))
            .await;
        found.expect("readable").into_inner().facts.is_some()
    };
    let _liar = liar(&cluster, 7, favour_the_worst).await;
    last(keep(&cluster, asked).await.expect("a place")).await;
    assert!(is_held().await);
    cluster.worker("honest");
    cluster.worker("truthful");
    build_until_found(&cluster, "puppet 7", 10).await;
    assert!(!is_held().await, "nobody else has said anything of it");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_lies_is_found_and_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 30.0);
    let liar = liar(&cluster, 7, favour_the_worst).await;
    cluster.worker("honest");
    cluster.worker("truthful");
    let (found, job) = build_until_found(&cluster, "puppet 7", 60).await;
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
async fn what_is_claimed_and_cannot_be_repeated_is_no_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    let _liar = liar(&cluster, 7, claim_a_win).await;
    cluster
        .builds()
        .await
        .start(build("test", 5))
        .await
        .expect("a job");
    let job = cluster.finished("test").await;
    assert_eq!(
        (job.state(), job.positions),
        (JobState::Done, 5),
        "nobody else is there to ask"
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
    let (found, job) = build_until_found(&cluster, "puppet 7", 30).await;
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
    cluster.builds().await.start(request).await.expect("a job");
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

/// A worker of our own engine that is wrong in the exam: in quarantine, and sent away.
async fn fails_the_exam(cluster: &Cluster, instance: u64) {
    let mut faulty = pretender(cluster, instance).await;
    let task = faulty.task().await;
    let mut wrong = answer(&task);
    wrong.verdicts[0].score ^= 4;
    faulty.report(&task, Outcome::Answer(wrong)).await;
    assert_eq!(faulty.refusal().await.code(), Code::FailedPrecondition);
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantine_lasts_until_release() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    fails_the_exam(&cluster, 1).await;
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    let listed = worker_named(&cluster, "puppet 1")
        .await
        .expect("it is listed though it is not there");
    assert!(
        listed.is_absent && listed.quarantine.contains("whose answer is known"),
        "{listed:?}"
    );
    cluster
        .builds()
        .await
        .start(build("test", 10))
        .await
        .expect("a job");
    let mut freed = pretender(&cluster, 1).await;
    let listed = worker_named(&cluster, "puppet 1").await.expect("connected");
    assert!(
        !listed.is_absent && listed.idle == "in quarantine" && listed.tasks == 0,
        "{listed:?}"
    );

    let release = async |name: &str| {
        WorkersClient::new(cluster.channel().await)
            .release(v1::ReleaseRequest { name: name.into() })
            .await
    };
    let refusal = release("nobody").await.expect_err("there is none");
    assert_eq!(refusal.code(), Code::NotFound);
    assert!(
        refusal
            .message()
            .contains("no worker 'nobody' is in quarantine; `kagetsu workers list`"),
        "{refusal}"
    );
    assert_eq!(
        release("puppet 1")
            .await
            .expect("it was in quarantine")
            .into_inner()
            .released,
        1
    );
    // It has everything to show anew, and then it works.
    loop {
        let task = freed.task().await;
        freed.answer(&task).await;
        if !is_exam(&task) {
            break;
        }
    }
    let listed = worker_named(&cluster, "puppet 1").await.expect("connected");
    assert_eq!(listed.quarantine, "", "{listed:?}");
    drop(freed);
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    assert_eq!(
        worker_named(&cluster, "puppet 1").await,
        None,
        "its release is remembered too"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantine_of_wrong_answers_covers_the_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 30.0);
    let first = liar(&cluster, 7, favour_the_worst).await;
    cluster.worker("honest");
    cluster.worker("truthful");
    build_until_found(&cluster, "puppet 7", 60).await;
    first.abort();
    // Another process, of the same name.
    let again = v1::Hello {
        name: "puppet 7".into(),
        engine: Engine::NAME.into(),
        ..hello(8)
    };
    let start = async |cluster: &Cluster| {
        let channel = cluster.channel().await;
        Puppet::say_first(channel, Said::Hello(again.clone()))
            .await
            .expect("a stream")
    };
    let named = async |cluster: &Cluster| {
        cluster
            .workers()
            .await
            .into_iter()
            .filter(|worker| worker.name == "puppet 7")
            .collect::<Vec<_>>()
    };
    let second = start(&cluster).await;
    let listed = named(&cluster).await;
    let listed = listed
        .iter()
        .find(|worker| !worker.is_absent && worker.done == 0)
        .expect("connected");
    assert!(listed.quarantine.contains("wrong about"), "{listed:?}");
    assert_eq!(listed.idle, "in quarantine");
    drop(second);
    cluster.end().await;

    let cluster = suspicious(folder.path(), 0.0);
    let mut third = start(&cluster).await;
    let listed = named(&cluster).await;
    assert_eq!(
        listed.len(),
        1,
        "what has gone is listed no more: {listed:?}"
    );
    assert_eq!(
        (listed[0].idle.as_str(), listed[0].is_absent),
        ("in quarantine", false),
        "{listed:?}"
    );
    WorkersClient::new(cluster.channel().await)
        .release(v1::ReleaseRequest {
            name: "puppet 7".into(),
        })
        .await
        .expect("it was in quarantine");
    assert!(
        is_exam(&third.task().await),
        "it has everything to show anew"
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repaired_worker_is_calibrated_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    fails_the_exam(&cluster, 1).await;
    let mended = v1::Hello {
        name: "puppet 1".into(),
        engine: Engine::NAME.into(),
        ..hello(2)
    };
    let mut mended = Puppet::say_first(cluster.channel().await, Said::Hello(mended))
        .await
        .expect("welcome");
    assert!(is_exam(&mended.task().await));
    let listed = cluster.workers().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (listed[0].idle.as_str(), listed[0].quarantine.as_str()),
        ("being examined", "")
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_quarantine_list_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    suspicious(folder.path(), 0.0).end().await;
    std::fs::write(folder.path().join("quarantine.toml"), "[[worker]]\nname = ").expect("room");
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        ..Config::default()
    };
    let refused =
        kagetsu_coordinator::Server::start(&config, tokio_util::sync::CancellationToken::new());
    let error = format!("{:#}", refused.err().expect("a refusal"));
    assert!(
        error.contains("quarantine.toml is damaged; mend it, or move it away"),
        "{error}"
    );
}
