//! A worker with an external engine.

use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_proto::v1::report::Outcome;
use kagetsu_tests::stub_engine;
use kagetsu_worker::{Config, EngineArgs};

use crate::coordinator::{Coordinator, ends, within};

/// The stub in one of its modes.
fn stub(mode: &str) -> EngineArgs {
    let engine = format!("uci:'{}' uci {mode}", stub_engine().display())
        .parse()
        .expect("an address");
    EngineArgs {
        engine: Some(engine),
        ..EngineArgs::default()
    }
}

fn config(mode: &str, variant: &[Variant]) -> Config {
    Config {
        engine: stub(mode),
        variant: variant.to_vec(),
        ..Config::embedded("tested".into(), 1)
    }
}

fn question(line: &str) -> Question {
    Question::new(
        Position::from_line(Variant::XIANGQI, line).expect("a line"),
        Effort::depth(2),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_says_what_it_is_and_plays_and_answers() {
    let mut coordinator = Coordinator::start();
    let worker = coordinator.worker_of(config("good", &[]));
    let (mut call, hello) = coordinator.welcome().await;
    assert_eq!(
        (hello.engine.as_str(), hello.variants.as_slice()),
        ("Stub good", &["xiangqi".to_string()][..])
    );
    call.ask(1, &question("h2e2")).await;
    let report = call.report().await;
    let Some(Outcome::Answer(answer)) = &report.outcome else {
        panic!("{report:?}")
    };
    let answer = answer.about(&question("h2e2").position).expect("legal");
    assert_eq!(&*answer.best().expect("a move").1.by.engine, "Stub good");
    call.acknowledge(&report).await;
    coordinator.shutdown.cancel();
    drop(call);
    ends(worker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_engine_fails_the_task_only() {
    let mut coordinator = Coordinator::start();
    let _worker = coordinator.worker_of(config("crash", &[Variant::XIANGQI]));
    let (mut call, _) = coordinator.welcome().await;
    call.ask(1, &question("h2e2")).await;
    let report = call.report().await;
    let Some(Outcome::Failed(reason)) = &report.outcome else {
        panic!("{report:?}")
    };
    assert!(
        reason.contains("the engine Stub crash has ended: exit code 3"),
        "{reason}"
    );
    call.ask(2, &question("")).await;
    let report = call.report().await;
    assert!(
        matches!(report.outcome, Some(Outcome::Answer(_))),
        "{report:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_engine_ends_the_worker_at_once() {
    let rows = [
        (
            config("illegal-check", &[]),
            "xiangqi: the engine Stub illegal-check played 'a0a9'",
        ),
        (
            config("chess", &[]),
            "played 'e2e4' in xiangqi, which is not legal",
        ),
        (
            config("good", &[Variant::XIANGQI, Variant::RENJU_15]),
            "renju-15: the engine Stub good does not play",
        ),
    ];
    for (config, words) in rows {
        let coordinator = Coordinator::start();
        let error = within(coordinator.worker_of(config))
            .await
            .expect("no panic")
            .expect_err("a refusal");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_with_a_hanging_engine_can_be_stopped() {
    let coordinator = Coordinator::start();
    let worker = coordinator.worker_of(config("mute", &[]));
    coordinator.shutdown.cancel();
    ends(worker).await;
}
