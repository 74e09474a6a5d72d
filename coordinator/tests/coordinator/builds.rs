//! Build jobs end, stop on request, and survive restarts.

use kagetsu_game::Position;
use kagetsu_proto::v1;
use kagetsu_proto::v1::JobState;
use kagetsu_proto::v1::report::Outcome;
use serde_json::json;
use tonic::Code;

use crate::world::{
    Cluster, ScriptedWorker, accepted, build, is_found_alone, named, position, refused, with,
};

/// The book does not depend on the number of workers.
#[tokio::test(flavor = "multi_thread")]
async fn workers_find_together_what_an_engine_finds_alone() {
    for workers in 1..=3 {
        let cluster = Cluster::with_book();
        for number in 0..workers {
            cluster.worker(&format!("worker {number}"));
        }
        cluster.start_build(build("test", 40)).await;
        let job = cluster.finished("test").await;
        assert_eq!(
            (job.state(), job.positions, job.target),
            (JobState::Done, 40, Some(40))
        );
        let book = cluster.export().await;
        assert_eq!(book.len(), 40);
        is_found_alone(book);
        cluster.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_report_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Some(folder.path()));
    cluster.start_build(build("test", 20)).await;
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    for done in 1..=3 {
        let task = worker.task().await;
        worker.answer(&task).await;
        assert_eq!(
            worker.acknowledged().await,
            v1::Held {
                task: task.task,
                attempt: task.attempt,
                ..Default::default()
            }
        );
        let job = cluster.job("test").await;
        assert_eq!((job.state(), job.positions), (JobState::Running, done));
    }
    cluster.end().await;

    let cluster = Cluster::start(Some(folder.path()));
    let jobs = accepted(cluster.builds().await.list(v1::ListJobsRequest {}).await).jobs;
    assert_eq!(
        (jobs.len(), jobs[0].state(), jobs[0].positions),
        (1, JobState::Running, 3)
    );
    cluster.worker("worker");
    assert_eq!(cluster.finished("test").await.positions, 20);
    assert_eq!(cluster.export().await.len(), 20);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_job_revokes_its_tasks() {
    let cluster = Cluster::with_book();
    let mut builds = cluster.builds().await;
    builds.start(build("test", 20)).await.expect("a job");
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let task = worker.task().await;
    let name = named("test");
    let job = accepted(builds.cancel(name.clone()).await);
    assert_eq!(job.state(), JobState::Cancelled);
    assert_eq!(worker.revoked().await, task.task);
    // The answer was on its way: it is not needed, and the worker may forget it.
    worker.answer(&task).await;
    assert_eq!(worker.acknowledged().await.task, task.task);
    assert_eq!(cluster.finished("test").await.positions, 0);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_job_waits_until_it_is_resumed() {
    let cluster = Cluster::with_book();
    let mut builds = cluster.builds().await;
    builds.start(build("test", 5)).await.expect("a job");
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let first = worker.task().await;
    let name = named("test");
    assert_eq!(
        accepted(builds.pause(name.clone()).await).state(),
        JobState::Paused
    );
    assert_eq!(worker.revoked().await, first.task);
    assert_eq!(
        accepted(builds.resume(name).await).state(),
        JobState::Running
    );
    let again = worker.task().await;
    assert_eq!(again.question, first.question, "the same position again");
    assert_ne!(again.task, first.task);
    drop(worker);
    cluster.worker("worker");
    assert_eq!(cluster.finished("test").await.state(), JobState::Done);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_restarts_only_with_the_same_settings() {
    let cluster = Cluster::with_book();
    cluster.worker("worker");
    let mut builds = cluster.builds().await;
    builds.start(build("test", 4)).await.expect("a job");
    assert_eq!(cluster.finished("test").await.positions, 4);
    builds
        .start(build("test", 9))
        .await
        .expect("a greater target");
    assert_eq!(cluster.finished("test").await.positions, 9);
    let (code, words) = refused(
        builds
            .start(with(build("test", 9), &json!({"top": 7})))
            .await,
    );
    assert_eq!(code, Code::FailedPrecondition, "{words}");
    cluster.end().await;
}

/// Grows a book of one position with many verdicts.
pub(crate) async fn talkative(cluster: &Cluster) -> Position {
    cluster.start_build(build("test", 1)).await;
    let mut worker = ScriptedWorker::join(cluster, 1).await;
    let task = worker.task().await;
    let root = position("h8");
    let verdict = |m: &kagetsu_game::Move| v1::Verdict {
        r#move: m.code().into(),
        bound: v1::Bound::Exact.into(),
        engine: "a talkative engine ".repeat(6),
        ..Default::default()
    };
    let verdicts = root.legal_moves().iter().map(verdict).collect();
    worker
        .report(&task, Outcome::Answer(v1::Answer { verdicts }))
        .await;
    worker.acknowledged().await;
    root
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_look_up_is_refused() {
    let cluster = Cluster::with_book();
    let root = talkative(&cluster).await;
    let mut books = cluster.books().await;
    let many = |count| v1::LookupManyRequest {
        positions: vec![(&root).into(); count],
        top: 0,
    };
    assert_eq!(accepted(books.lookup_many(many(70)).await).found.len(), 70);
    let (code, words) = refused(books.lookup_many(many(1_024)).await);
    assert_eq!(code, Code::ResourceExhausted);
    assert!(words.contains("ask for fewer"), "{words}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_with_nothing_left_to_search_says_so() {
    let cluster = Cluster::with_book();
    cluster.worker("worker");
    let short = with(build("test", 1_000), &json!({"max_ply": 1}));
    cluster.start_build(short).await;
    let job = cluster.finished("test").await;
    assert_eq!(job.state(), JobState::Done, "{job:?}");
    let reason = format!("nothing is left to search after {} of 1000", job.positions);
    assert!(job.reason.contains(&reason), "{job:?}");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_book_tells_what_was_built() {
    let cluster = Cluster::with_book();
    cluster.worker("worker");
    cluster.start_build(build("test", 4)).await;
    cluster.finished("test").await;
    let mut books = cluster.books().await;
    let (known, unknown) = (
        v1::Position::from(&position("h8")),
        v1::Position::from(&position("a1")),
    );
    let one = accepted(books.lookup(known.clone()).await);
    let answer = one.answer.clone().expect("the root is in the book");
    let best = answer
        .verdicts
        .iter()
        .find(|verdict| verdict.bound() == v1::Bound::Exact)
        .expect("a value")
        .clone();
    let many = v1::LookupManyRequest {
        positions: vec![unknown.clone(), known.clone()],
        top: 0,
    };
    let many = accepted(books.lookup_many(many).await).found;
    assert_eq!(many, [v1::Found::default(), one]);
    let least = v1::LookupManyRequest {
        positions: vec![known.clone()],
        top: 1,
    };
    let least = accepted(books.lookup_many(least).await).found;
    assert_eq!(
        least[0].answer.as_ref().map(|answer| &answer.verdicts[..]),
        Some(&[best.clone()][..])
    );
    let pick = |position| v1::ReadRequest {
        view: "pick".into(),
        position: Some(position),
        options: String::new(),
    };
    let picked = accepted(books.read(pick(known)).await);
    let picked: serde_json::Value = serde_json::from_str(&picked.json).expect("JSON");
    assert_eq!(picked["depth"], best.depth, "{picked}");
    assert_eq!(refused(books.read(pick(unknown)).await).0, Code::NotFound);
    cluster.end().await;
}

/// Returns the number of stones of a task's position, which may be turned and has no moves.
fn stones(task: &v1::Task) -> u16 {
    let position = task
        .question
        .as_ref()
        .and_then(|question| question.position.as_ref())
        .expect("a question");
    kagetsu_game::Position::try_from(position)
        .expect("a position")
        .canonical()
        .stones
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_run_by_priority_which_may_change() {
    let cluster = Cluster::with_book();
    let start = async |name: &str, line: &str, priority| {
        let roots = vec![(&position(line)).into()];
        let request = v1::StartRequest {
            roots,
            ..with(build(name, 1), &json!({"priority": priority, "max_ply": 0}))
        };
        accepted(cluster.builds().await.start(request).await)
    };
    // Each job searches one position, so the number of stones tells the jobs apart.
    start("late", "h8", -5).await;
    start("usual", "h8 i9", 0).await;
    let job = start("first", "h8 i9 h9", 9).await;
    assert_eq!(job.priority, 9);
    start("changed", "h8 i9 h9 h10", -9).await;
    let prioritize = async |priority| {
        let request = v1::PrioritizeRequest {
            name: "changed".into(),
            priority,
        };
        cluster.builds().await.prioritize(request).await
    };
    let (code, message) = refused(prioritize(101).await);
    assert!(
        code == Code::InvalidArgument && message.contains("-100 to 100"),
        "{message}"
    );
    assert_eq!(accepted(prioritize(50).await).priority, 50);
    let mut worker = ScriptedWorker::join(&cluster, 1).await;
    let mut order = Vec::new();
    for _ in 0..4 {
        let task = worker.task().await;
        order.push(stones(&task));
        worker.answer(&task).await;
    }
    assert_eq!(order, [4, 3, 2, 1]);
    for name in ["late", "usual", "first", "changed"] {
        assert_eq!(cluster.finished(name).await.state(), JobState::Done);
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deepening_job_needs_a_known_root() {
    let cluster = Cluster::with_book();
    cluster.worker("worker");
    cluster.start_build(build("test", 3)).await;
    cluster.finished("test").await;
    let anew = v1::StartRequest {
        name: "anew".into(),
        ..with(
            build("test", 3),
            &json!({"positions": null, "depth": 4, "deepen": {"depth": 4}}),
        )
    };
    let elsewhere = v1::StartRequest {
        roots: vec![(&position("a1")).into()],
        ..anew.clone()
    };
    let refusal = cluster
        .builds()
        .await
        .start(elsewhere)
        .await
        .expect_err("it would be done with nothing done");
    assert_eq!(refusal.code(), Code::FailedPrecondition);
    assert!(
        refusal
            .message()
            .contains("the book does not hold the root freestyle-15 a1"),
        "{refusal}"
    );
    cluster.start_build(anew).await;
    assert_eq!(cluster.finished("anew").await.state(), JobState::Done);
    cluster.end().await;
}
