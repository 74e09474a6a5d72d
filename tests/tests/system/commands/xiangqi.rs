//! Xiangqi from question to book, in one process and on a cluster.

use kagetsu_game::Variant;
use kagetsu_tests::{Program, Scratch, kagetsu};
use serde_json::json;

use crate::world::{Cluster, assert_fields, assert_same_book};

/// The central cannon and a horse against it.
const OPENING: &str = "h2e2 h9g7";

/// The smallest value of a rook in any evaluation, in hundredths of a pawn.
const ROOK: i64 = 400;

#[test]
fn cluster_and_single_process_build_the_same_book() {
    let scratch = Scratch::new();
    assert_same_book(&scratch, Variant::XIANGQI, OPENING, 4);
}

#[test]
fn cluster_analyses_xiangqi() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _workers = [cluster.worker(), cluster.worker()];
    // Red can take Black's rook for nothing: any sound search does, however the moves are divided.
    let blunder = "h2e2 h7e7 h0g2 h9g7 i0h0 i9h9 a0a1 h9h3";
    let url = &cluster.url;
    let here = kagetsu!("analyze --variant xiangqi --moves {blunder} --depth 6 --top 2 --json");
    let there = kagetsu!(
        "analyze --variant xiangqi --moves {blunder} --depth 6 --top 2 --json --coordinator {url}"
    );
    let [here, there] = [here, there].map(|finished| finished.json());
    for answer in [&here, &there] {
        let found = (&answer["best"], &answer["depth"], &answer["win_in"]);
        assert_eq!(found, (&json!("h0h3"), &json!(6), &json!(null)), "{answer}");
        assert!(answer["score"].as_i64() > Some(ROOK / 2), "{answer}");
    }
    // A mate is a proof, whichever search finds it.
    let mate = "4k4/9/9/9/9/9/9/R8/1R7/4K4 w";
    let proven =
        kagetsu!("analyze --variant xiangqi --fen {mate} --depth 4 --json --coordinator {url}");
    assert_fields(&proven.json(), &json!({"proof": "win", "win_in": 3}));
    cluster.stop();
}

#[test]
fn book_is_built_from_a_fen() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let (book, fen) = (
        path.to_str().expect("a plain name"),
        "3ak4/4a4/9/9/9/9/9/4B4/4A4/2BAK1R2 w",
    );
    let place = ["--book", book, "--variant", "xiangqi", "--fen", fen];
    let build = [
        &["build"],
        &place[..],
        &["--positions", "5", "--depth", "2", "--json"],
    ]
    .concat();
    assert_eq!(Program::Kagetsu.run(&build).json()["positions"], 5);
    let known = Program::Kagetsu
        .run(&[&["query"], &place[..], &["--json"]].concat())
        .json();
    assert!(
        known["answers"]
            .as_array()
            .is_some_and(|moves| !moves.is_empty()),
        "{known}"
    );
    let refused = kagetsu!(
        "build --book {book} --variant freestyle-15 --fen {fen} --positions
        5"
    );
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--fen"), "{}", refused.stderr);
    Program::Kagetsu.run(&["check", "--book", book]).ok();
}
