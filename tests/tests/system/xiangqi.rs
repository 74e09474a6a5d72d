//! Xiangqi from question to book, in one process and on a cluster.

use kagetsu_game::Variant;
use kagetsu_tests::{Program, Scratch};
use serde_json::json;

use crate::cluster::{Cluster, grows_alike};

/// The central cannon and a horse against it.
const OPENING: &str = "h2e2 h9g7";

#[test]
fn a_cluster_grows_the_book_that_one_process_does() {
    let scratch = Scratch::new();
    grows_alike(&scratch, Variant::XIANGQI, OPENING, 4);
}

#[test]
fn a_cluster_analyses_xiangqi() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
    let _workers = [cluster.worker(), cluster.worker()];
    let asked = ["analyze", "--variant", "xiangqi", "--depth", "6", "--top", "2", "--json"];
    let here = Program::Kagetsu.run(&asked).json();
    let there = Program::Kagetsu.run(&[&asked[..], &["--coordinator", &cluster.url]].concat()).json();
    for answer in [&here, &there] {
        let first = answer["best"].as_str().expect("a move");
        assert!(["b2e2", "h2e2", "c3c4", "g3g4", "c0e2", "g0e2", "b0c2", "h0g2"].contains(&first), "{answer}");
        assert_eq!((&answer["depth"], &answer["win_in"]), (&json!(6), &json!(null)));
    }
    // A mate is a proof wherever it is found.
    let mate = ["analyze", "--variant", "xiangqi", "--fen", "4k4/9/9/9/9/9/9/R8/1R7/4K4 w", "--depth", "4", "--json"];
    let proven = Program::Kagetsu.run(&[&mate[..], &["--coordinator", &cluster.url]].concat()).json();
    assert_eq!((&proven["proof"], &proven["win_in"]), (&json!("win"), &json!(3)), "{proven}");
    cluster.stop();
}
