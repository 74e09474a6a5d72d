//! Workers that lie, or never answer, beside an honest one.

use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::{Effort, Question, Verdict};
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_tests::Scratch;
use serde_json::{Value, json};

use crate::world::{Cluster, Lie, LyingWorker, until};

/// Positions of each build.
const POSITIONS: u32 = 30;
const DEPTH: u8 = 2;

/// Builds with an honest worker and a liar, from before the first task on. Returns the cluster.
fn build_with(book: &Path, lie: Lie) -> (Cluster, LyingWorker) {
    let cluster = Cluster::start_with(book, &["--verify-share", "100"]);
    let liar = LyingWorker::start(&cluster.url, 7, lie);
    let honest = cluster.worker();
    until("two workers are admitted", || {
        let workers = cluster.workers();
        let is_admitted = |worker: &&Value| worker["trust"] == "operator";
        (workers.iter().filter(is_admitted).count() == 2).then_some(())
    });
    let _client = cluster.build(POSITIONS, DEPTH.into());
    let job = until("the job ends", || {
        cluster.job().filter(|job| job["state"] != "running")
    });
    assert_eq!(
        (&job["state"], &job["positions"]),
        (&json!("done"), &json!(POSITIONS)),
        "{lie:?}"
    );
    drop(honest);
    (cluster, liar)
}

/// Checks a book, and that one engine sees each win and each loss in it.
fn assert_true(book: &Path) {
    let (book, _) = Book::open(book, &BookOptions::default()).expect("a sound book");
    assert!(book.check(&mut |_| {}).expect("readable").is_clean());
    let mut engine = Engine::new(EngineOptions::default()).expect("memory");
    let is_decided = |v: &Verdict| i32::from(v.score.raw()).abs() >= 10_000;
    for entry in book.positions() {
        let entry = entry.expect("readable");
        let decided = entry.facts.verdicts().iter().filter(|(_, v)| is_decided(v));
        for (m, v) in decided {
            let question = Question {
                moves: vec![*m],
                ..Question::new(entry.position.clone(), Effort::depth(DEPTH))
            };
            let alone = engine.answer(&question, &Control::new(), &mut |_| {});
            let alone = alone.expect("an answer");
            let seen = alone.get(*m).map(|v| v.score);
            assert_eq!(seen, Some(v.score), "{}: {v:?}", entry.position);
        }
    }
}

#[test]
fn liars_of_wins_losses_and_proofs_are_named() {
    for lie in [Lie::Decided(20_000), Lie::Decided(-20_000), Lie::Proven] {
        let scratch = Scratch::new();
        let book = scratch.path("book");
        let (cluster, liar) = build_with(&book, lie);
        let listed = cluster.worker_named(liar.name()).expect("it is listed");
        let reason = listed["quarantine"].as_str().unwrap_or_default();
        assert!(reason.contains("wrong about"), "{lie:?}: {listed}");
        assert_eq!(listed["confirmed"], 0, "{lie:?}: {listed}");
        drop(liar);
        cluster.stop();
        assert_true(&book);
    }
}

#[test]
fn worker_that_never_answers_holds_no_build() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let (cluster, silent) = build_with(&book, Lie::Silence);
    let listed = cluster.worker_named(silent.name()).expect("it is listed");
    assert_eq!(listed["done"], 0, "{listed}");
    drop(silent);
    cluster.stop();
    assert_true(&book);
}
