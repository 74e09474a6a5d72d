//! Xiangqi books in SQLite: ours read by another library, and the other way round.

use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Scratch, kagetsu};
use serde_json::Value;

use crate::world::BookBuild;

/// Runs the script that calls cchess; `None` if Python has no cchess.
fn cchess(arguments: &[&str]) -> Option<String> {
    if !kagetsu_builders::has_python_module("cchess") {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system/engines/cchess_obk.py");
    let mut command = Command::new("python3");
    command.arg(script).args(arguments);
    let run = Finished::of(command).ok();
    Some(run.stdout)
}

#[test]
fn exported_keys_and_moves_match_cchess() {
    let numbers = kagetsu_builders::needed!(cchess(&["numbers"]));
    let scratch = Scratch::new();
    let name = |file: &str| scratch.text(file);
    let [text, book, obk, fens] = ["numbers.txt", "xiangqi.book", "ours.obk", "ours.fen"].map(name);
    std::fs::write(&text, numbers).expect("written");
    BookBuild {
        variant: "xiangqi",
        moves: "",
        positions: 60,
        ..BookBuild::H8
    }
    .run_in(&book);
    for (format, file, more) in [
        ("obk", &obk, &["--zobrist", &text][..]),
        ("fen", &fens, &[]),
    ] {
        Program::Kagetsu
            .run(&[&["export", "--format", format, "--book", &book, file], more].concat())
            .ok();
    }
    let read = cchess(&["read", &obk, &fens]).expect("as before");
    let counts: Vec<u64> = read
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let &[positions, found, rows] = &counts[..] else {
        panic!("{read}")
    };
    assert!(
        positions >= 60 && found >= positions && found == rows,
        "positions, moves found, moves of the book: {read}"
    );
    // Positions appear as in the games, not in canonical orientation: Black is to move in some.
    let listed = std::fs::read_to_string(&fens).expect("a text");
    assert!(
        listed.starts_with("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w "),
        "{listed}"
    );
    assert!(listed.contains(" b "), "{listed}");
}

#[test]
fn book_written_by_cchess_is_read_whole() {
    let numbers = kagetsu_builders::needed!(cchess(&["numbers"]));
    let scratch = Scratch::new();
    let name = |file: &str| scratch.text(file);
    let [text, book, obk] = ["numbers.txt", "xiangqi.book", "theirs.obk"].map(name);
    std::fs::write(&text, numbers).expect("written");
    let written = cchess(&["write", &obk, "7"]).expect("as before");
    let (rows, game) = written.trim().split_once(' ').expect("rows and a game");
    let report = kagetsu!("import --format obk --zobrist {text} --book {book} {obk} --json").json();
    let rows: u64 = rows.parse().expect("a number");
    let losses = report["losses"].as_object().expect("an object");
    assert!(losses.values().all(|count| count == 0), "{report}");
    assert!(rows > 200 && report["items"] == rows, "{report}");
    // Every position of the game is there, with the move that was played.
    let moves: Vec<&str> = game.split(' ').collect();
    for ply in 0..moves.len() {
        let line = moves[..ply].join(" ");
        let answer = kagetsu!(
            "query --book {book} --variant xiangqi --moves {line} --searched
            --json"
        )
        .json();
        let is_it = |answer: &Value| answer["move"] == moves[ply];
        assert!(
            answer["answers"]
                .as_array()
                .is_some_and(|all| all.iter().any(is_it)),
            "{line}: {answer}"
        );
    }
}
