//! Tasks are done, dropped and refused.

use std::collections::BTreeSet;

use kagetsu_builders::undated;
use kagetsu_game::{Answer, Effort, Position, Question, Score, Variant, Window};
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_worker::Config;

use crate::coordinator::{Coordinator, endless, short};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_answered_as_the_engine_answers() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, hello) = coordinator.welcome().await;
    assert_eq!(
        (hello.slots, hello.threads, hello.engine.as_str()),
        (1, 1, Engine::NAME)
    );
    call.ask(7, &short()).await;
    let report = call.report().await;
    assert_eq!((report.task, report.attempt), (7, 1));
    let Some(Outcome::Answer(answer)) = report.outcome else {
        panic!("{report:?}")
    };
    let options = EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let alone =
        Engine::new(options)
            .expect("an engine")
            .answer(&short(), &Control::new(), &mut |_| {});
    let answer = answer.about(&short().position).expect("legal moves");
    assert_eq!(undated(&answer), undated(&alone.expect("an answer")));
}

#[tokio::test(flavor = "multi_thread")]
async fn strategies_are_sent_where_they_are_wanted() {
    // Two rows of two that meet, one ply before: every move loses.
    let line = "h8 a1 i9 a4 h10 a7 i7";
    let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
    let losses = Question {
        window: Window {
            alpha: Score::MIN,
            beta: -Score::OPINION_MAX,
        },
        ..Question::new(position, Effort::nodes(400_000))
    };
    let mut answers = Vec::new();
    for wants in [false, true] {
        let mut coordinator = Coordinator::start();
        coordinator.wants_strategies = wants;
        let _worker = coordinator.worker();
        let (mut call, _) = coordinator.welcome().await;
        call.ask(7, &losses).await;
        let report = call.report().await;
        assert_eq!(!report.strategies.is_empty(), wants, "{report:?}");
        let Some(Outcome::Answer(answer)) = report.outcome else {
            panic!("an answer")
        };
        let answer = answer.about(&losses.position).expect("legal moves");
        answers.push(undated(&answer));
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unverifiable_end_tables_are_not_used() {
    let bytes = kagetsu_search::build_end_tables(3, &mut |_, _, _| {});
    kagetsu_search::give_end_tables(&bytes).expect("tables");
    let position = Position::from_fen(Variant::SURAKARTA, "w5/6/6/6/6/bb4 b").expect("a board");
    let question = Question::new(position, Effort::depth(1));
    for end_tables in [0, 2, 3, 7] {
        let mut coordinator = Coordinator::start();
        coordinator.end_tables = end_tables;
        let _worker = coordinator.worker();
        let (mut call, _) = coordinator.welcome().await;
        call.ask(7, &question).await;
        let Some(Outcome::Answer(answer)) = call.report().await.outcome else {
            panic!("an answer")
        };
        let answer = answer.about(&question.position).expect("legal moves");
        let has_proof = answer.best().is_some_and(|(_, best)| best.proof.is_some());
        assert_eq!(has_proof, end_tables >= 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_slot_searches_and_reports_its_progress() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker_of(Config {
        slots: 2,
        ..Config::embedded("tested".into(), 2)
    });
    let (mut call, hello) = coordinator.welcome().await;
    assert_eq!(hello.slots, 2);
    for task in [1, 2, 3] {
        call.ask(task, &endless()).await;
    }
    let mut seen = 0;
    for _ in 0..3 {
        let mut progress = call.progress(seen).await;
        while progress.len() < 2 {
            progress = call.progress(seen).await;
        }
        let tasks: BTreeSet<_> = progress.iter().map(|p| p.task).collect();
        assert_eq!(tasks, [1, 2].into(), "the third waits");
        seen = progress.iter().map(|p| p.nodes).max().unwrap_or(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_revoked_makes_room_for_the_next() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &endless()).await;
    call.progress(0).await;
    call.ask(2, &endless()).await;
    call.ask(3, &short()).await;
    call.tell(CoordinatorMessage::Revoke(v1::Revoke { task: 2 }))
        .await;
    call.tell(CoordinatorMessage::Revoke(v1::Revoke { task: 1 }))
        .await;
    let report = call.report().await;
    assert_eq!(report.task, 3, "a revoked task has no report");
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_task_is_refused_with_a_reason() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker();
    let (mut call, _) = coordinator.welcome().await;
    let mut spoiled = v1::Question::from(&short());
    spoiled.width = 0;
    let occupied = v1::Question {
        moves: vec![112],
        ..v1::Question::from(&short())
    };
    let rows = [
        (None, "the task has no question"),
        (
            Some(spoiled),
            "the task is invalid: width 0 is out of range",
        ),
        (Some(occupied), "h8"),
    ];
    for (task, (question, words)) in (1..).zip(rows) {
        call.tell(CoordinatorMessage::Task(v1::Task {
            task,
            attempt: 1,
            question,
            priority: 0,
            role: None,
        }))
        .await;
        let report = call.report().await;
        assert_eq!(report.task, task);
        let Some(Outcome::Failed(reason)) = report.outcome else {
            panic!("{report:?}")
        };
        assert!(reason.contains(words), "{reason}, not {words}");
    }
    call.ask(9, &short()).await;
    let answered = matches!(call.report().await.outcome, Some(Outcome::Answer(answer)) if Answer::try_from(&answer).is_ok());
    assert!(answered, "it works on");
}
