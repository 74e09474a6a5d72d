//! Xiangqi from question to book, in one process and on a cluster.

use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Program, Scratch};
use serde_json::json;

use crate::cluster::{Cluster, agree, facts, until};

/// The central cannon and a horse against it.
const OPENING: &str = "h2e2 h9g7";

fn build<'a>(place: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["build", "--variant", "xiangqi", "--moves", OPENING, "--positions", "50", "--depth", "4"];
    arguments.extend(place);
    arguments
}

#[test]
fn a_cluster_grows_the_book_that_one_process_does() {
    let scratch = Scratch::new();
    let (here, there) = (scratch.path("here"), scratch.path("there"));
    let (here_name, there_name) = (here.to_str().expect("a plain name"), there.to_str().expect("a plain name"));
    let built = Program::Kagetsu.run(&build(&["--book", here_name]));
    assert_eq!(built.code, Some(0), "{built:#?}");

    let cluster = Cluster::start(&there, "127.0.0.1:0");
    let workers = [cluster.worker(), cluster.worker()];
    let built = Program::Kagetsu.run(&build(&["--coordinator", &cluster.url]));
    assert_eq!(built.code, Some(0), "{built:#?}");
    until("a job that is done", || cluster.job().filter(|job| job["state"] == json!("done")));
    let asked = ["query", "--variant", "xiangqi", "--moves", OPENING, "--json", "--book", &cluster.url];
    let answer = Program::Kagetsu.run(&asked).json();
    assert_eq!(answer["variant"], json!("xiangqi"));
    drop(workers);
    cluster.stop();
    assert!(agree(&facts(&here), &facts(&there)) > 10);

    let check = Program::Kagetsu.run(&["check", "--book", there_name]);
    assert_eq!(check.code, Some(0), "{check:#?}");
    let picked = Program::Kagetsu.run(&["pick", "--book", here_name, "--variant", "xiangqi", "--moves", OPENING]);
    let position = Position::from_line(Variant::XIANGQI, OPENING).expect("a position");
    assert_eq!(picked.code, Some(0), "{picked:#?}");
    position.play_line(picked.stdout.trim()).expect("a legal move");
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
