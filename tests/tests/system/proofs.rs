//! From a search to a checked win: a book's proof, written out and verified, whole and damaged.

use std::fs;

use kagetsu_tests::{Finished, Program, Scratch};
use serde_json::{Value, json};

fn kagetsu(arguments: &[&str]) -> Finished {
    Program::Kagetsu.run(arguments)
}

/// Two rows of two that meet: a win by threes and fours, found by a search of one position.
const WON: &str = "h8 a1 i9 a4 h10 a7 i7 a10";

#[test]
fn a_proof_of_the_book_is_verified_and_a_damaged_one_is_refused() {
    let scratch = Scratch::new();
    let [book, proof] =
        ["won.book", "won.proof"].map(|name| scratch.path(name).to_str().expect("a plain name").to_string());
    let place = ["--variant", "freestyle-15", "--moves", WON];
    let built = kagetsu(&[&["build", "--book", &book, "--positions", "1", "--depth", "6"], &place[..]].concat());
    assert_eq!(built.code, Some(0), "{built:#?}");
    let export = ["export", "--format", "proof", "--book", &book];
    let written = kagetsu(&[&export[..], &place, &[&proof]].concat());
    assert_eq!(written.code, Some(0), "{written:#?}");
    let verified = kagetsu(&["verify", &proof, "--json"]).json();
    assert_eq!((&verified["holds"], &verified["tree"]["claim"]), (&json!(true), &json!("win")), "{verified}");

    // A line that is lost, and a reply that loses its answer.
    let text = fs::read_to_string(&proof).expect("it is there");
    let lines: Vec<&str> = text.lines().collect();
    let damaged = scratch.path("damaged.proof");
    for at in [4, lines.len() / 2, lines.len() - 2] {
        let rest: Vec<&str> = lines.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, line)| *line).collect();
        fs::write(&damaged, rest.join("\n") + "\n").expect("room");
        let refused = kagetsu(&["verify", damaged.to_str().expect("a plain name"), "--json"]);
        let said: Value = serde_json::from_str(&refused.stdout).expect("JSON");
        assert_eq!((refused.code, &said["holds"]), (Some(1), &json!(false)));
        assert!(said["line"].as_u64().is_some_and(|line| line > at as u64), "{said}");
    }
    let root = lines[lines.len() - 2];
    fs::write(&damaged, text.replacen(root, root.rsplit_once(' ').expect("answers").0, 1)).expect("room");
    let refused = kagetsu(&["verify", damaged.to_str().expect("a plain name")]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(refused.stdout.contains("does not hold: line "), "{refused:#?}");

    let unproven = kagetsu(&[&export[..], &["--variant", "freestyle-15", "--moves", "h8", "-"]].concat());
    assert_eq!(unproven.code, Some(2), "{unproven:#?}");
    assert!(unproven.stderr.contains("has proven no win"), "{unproven:#?}");
    let nowhere = kagetsu(&[&export[..], &["-"]].concat());
    assert!(nowhere.stderr.contains("--variant"), "{nowhere:#?}");
    let imported = kagetsu(&["import", "--format", "proof", "--book", &book, &proof]);
    assert!(imported.code == Some(2) && imported.stderr.contains("kagetsu verify"), "{imported:#?}");
}
