//! Surakarta from question to book, in one process and on a cluster.

use kagetsu_game::Variant;
use kagetsu_tests::{Program, Scratch, kagetsu};
use serde_json::json;

use crate::world::{BookBuild, Cluster, assert_fields, assert_same_book};

/// Each side has opened a circuit.
const OPENING: &str = "b2b3 e5e4";

#[test]
fn cluster_and_single_process_build_the_same_book() {
    let scratch = Scratch::new();
    let book = assert_same_book(&scratch, Variant::SURAKARTA, OPENING, 5);
    let ask =
        |moves| kagetsu!("query --variant surakarta --json --book {book} --moves {moves}").json();
    // The mirror image of the position.
    let (found, turned) = (ask(OPENING), ask("e2e3 b5b4"));
    assert_eq!(
        (&found["key"], &found["score"]),
        (&turned["key"], &turned["score"])
    );
}

#[test]
fn cluster_analyses_surakarta() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _workers = [cluster.worker(), cluster.worker()];
    let both = |more: &[&str]| {
        let arguments = [&["analyze", "--variant", "surakarta", "--json"], more].concat();
        let there = [&arguments[..], &["--coordinator", &cluster.url]].concat();
        [arguments, there].map(|arguments| Program::Kagetsu.run(&arguments).json())
    };
    for answer in both(&["--moves", OPENING, "--depth", "6", "--top", "2"]) {
        assert_fields(&answer, &json!({"depth": 6, "win_in": null}));
    }
    // The capture of the last stone: b2 goes around its own corner, over its starting point, to b5.
    for answer in both(&["--fen", "6/1w4/6/6/1b4/6 b", "--depth", "4"]) {
        assert_fields(
            &answer,
            &json!({"best": "b2b5", "proof": "win", "win_in": 1}),
        );
    }
    cluster.stop();
}

#[test]
fn example_roots_are_built() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    let roots = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/surakarta-openings.txt"
    );
    let build = BookBuild {
        variant: "surakarta",
        moves: "",
        positions: 12,
        depth: 3,
    };
    let job = build.run(&["--roots", roots, "--book", book]);
    assert_eq!(job["positions"], json!(12), "{job}");
}
