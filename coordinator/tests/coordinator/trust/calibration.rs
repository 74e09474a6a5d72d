//! Calibration: questions of known answers before a worker gets tasks.

use std::time::Duration;

use kagetsu_proto::v1;
use kagetsu_proto::v1::JobState;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use tonic::Code;

use super::{claim_a_win, exam_length, is_exam, passes, pretender, suspicious, worker_named};
use crate::world::{ScriptedWorker, answer, build, hello, within};

#[tokio::test(flavor = "multi_thread")]
async fn failed_calibration_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster.start_build(build("test", 10)).await;
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
    // The worker may not return under its name, but a sound worker may.
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
    let listed = worker_named(&cluster, "worker 1").await.expect("connected");
    assert_eq!(
        (listed.idle.as_str(), listed.quarantine.as_str()),
        ("being examined", "")
    );
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_repeated_answer_is_no_calibration() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster.start_build(build("test", 10)).await;
    let mut lazy = pretender(&cluster, 1).await;
    let first = lazy.task().await;
    for _ in 0..20 {
        lazy.answer(&first).await;
        assert_eq!(lazy.acknowledged().await.task, first.task);
    }
    let listed = worker_named(&cluster, "worker 1").await.expect("connected");
    assert_eq!((listed.idle.as_str(), listed.tasks), ("being examined", 0));
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_with_invented_tasks_is_calibrated() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster.start_build(build("test", 10)).await;
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
    let mut stranger = ScriptedWorker::greet(&cluster, hello).await;
    let mut exam = Vec::new();
    loop {
        match within(stranger.hear()).await {
            CoordinatorMessage::Task(task) => exam.push(task),
            CoordinatorMessage::Revoke(revoke) => assert_eq!(revoke.task, 7),
            _ => {}
        }
        if exam.len() == exam_length() {
            break;
        }
    }
    assert!(exam.iter().all(is_exam), "{exam:?}");
    for task in &exam {
        let listed = worker_named(&cluster, "worker 1").await.expect("connected");
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
    cluster.start_build(build("test", 10)).await;
    let mut first = ScriptedWorker::join(&cluster, 1).await;
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
    let mut again = ScriptedWorker::greet(&cluster, hello).await;
    loop {
        match within(again.hear()).await {
            CoordinatorMessage::Task(task) if is_exam(&task) => again.answer(&task).await,
            CoordinatorMessage::Task(_) => break,
            CoordinatorMessage::Revoke(revoke) => panic!("{revoke:?}"),
            _ => {}
        }
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn task_at_hand_is_resumed_after_calibration() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    cluster.start_build(build("test", 10)).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let before = passes(&mut worker).await;
    cluster.end().await;
    let cluster = suspicious(folder.path(), 0.0);
    let found = async || {
        let job = cluster.job("test").await;
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
    let mut worker = ScriptedWorker::greet(&cluster, hello).await;
    // It is calibrated first. An earlier report counts for nothing, and is not acknowledged.
    worker.answer(&before).await;
    for _ in 0..exam_length() {
        let question = worker.task().await;
        assert!(is_exam(&question), "{question:?}");
        assert_eq!(found().await, (0, 0));
        worker.answer(&question).await;
        assert_eq!(worker.acknowledged().await.task, question.task);
    }
    // Then it gets its task again, under a number of this process.
    let at_hand = worker.task().await;
    assert_eq!(at_hand.question, before.question);
    worker.answer(&at_hand).await;
    assert_eq!(worker.acknowledged().await.task, at_hand.task);
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
    cluster.start_build(build("test", 1)).await;
    let task = passes(&mut liar).await;
    liar.report(&task, Outcome::Answer(claim_a_win(answer(&task))))
        .await;
    for _ in 0..20 {
        let job = cluster.job("test").await;
        assert_eq!(job.positions, 0, "an opinion already");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    examined.answer(&exam).await;
    let again = passes(&mut examined).await;
    assert_eq!(again.question, task.question);
    examined.answer(&again).await;
    assert_eq!(cluster.finished("test").await.state(), JobState::Done);
    let liar = worker_named(&cluster, "worker 7").await.expect("connected");
    assert!(liar.quarantine.contains("wrong about"), "{liar:?}");
    cluster.end().await;
}
