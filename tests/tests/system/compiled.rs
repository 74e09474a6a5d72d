//! A book compiled and asked by the command line: the file says what the folder says.

use std::fs;

use kagetsu_tests::{Finished, Program, Scratch};
use serde_json::json;

fn kagetsu(arguments: &[&str]) -> Finished {
    Program::Kagetsu.run(arguments)
}

fn ask(command: &str, book: &str, more: &[&str]) -> Finished {
    kagetsu(&[&[command, "--book", book, "--variant", "freestyle-15"], more].concat())
}

#[test]
fn a_compiled_book_answers_as_its_folder_does() {
    let scratch = Scratch::new();
    let [folder, file] =
        ["h8.book", "h8.kbk"].map(|name| scratch.path(name).to_str().expect("a plain name").to_string());
    let grown = ask("build", &folder, &["--moves", "h8", "--positions", "30", "--depth", "3"]);
    assert_eq!(grown.code, Some(0), "{grown:#?}");
    let made = kagetsu(&["compile", "--book", &folder, "--out", &file, "--json"]).json();
    let bytes = fs::metadata(&file).expect("it is there").len();
    assert_eq!((&made["positions"], &made["bytes"]), (&json!(30), &json!(bytes)));

    for moves in ["h8", "h8 i9", "h8 g7", "h8 g9"] {
        let both = [&folder, &file].map(|book| ask("pick", book, &["--moves", moves]));
        assert_eq!((both[0].code, &both[0].stdout), (both[1].code, &both[1].stdout), "{moves}");
    }
    let both = [&folder, &file].map(|book| ask("tree", book, &["--moves", "h8", "--plies", "3", "--top", "2"]));
    assert_eq!((both[0].code, &both[0].stdout), (Some(0), &both[1].stdout));
    let [whole, brief] = [&folder, &file].map(|book| ask("query", book, &["--moves", "h8", "--json"]).json());
    for field in ["best", "score", "win_in", "proof", "key", "side", "depth"] {
        assert_eq!(whole[field], brief[field], "{field}");
    }
    let [whole, brief] = [&folder, &file].map(|book| kagetsu(&["stats", "--book", book, "--json"]).json());
    for field in ["positions", "nodes", "by_stones", "by_depth"] {
        assert_eq!(whole[field], brief[field], "{field}");
    }
    let check = kagetsu(&["check", "--book", &file, "--json"]).json();
    assert_eq!((&check["clean"], &check["positions"]), (&json!(true), &json!(30)));
    assert_eq!(ask("query", &file, &["--moves", "a1"]).code, Some(1));
}

#[test]
fn a_damaged_compiled_book_is_told_from_one_that_is_not() {
    let scratch = Scratch::new();
    let [folder, file] =
        ["h8.book", "h8.kbk"].map(|name| scratch.path(name).to_str().expect("a plain name").to_string());
    let grown = ask("build", &folder, &["--moves", "h8", "--positions", "5", "--depth", "2"]);
    assert_eq!(grown.code, Some(0), "{grown:#?}");
    assert_eq!(kagetsu(&["compile", "--book", &folder, "--out", &file]).code, Some(0));
    // It can be asked, not built: the folder is for that.
    let built = ask("build", &file, &["--moves", "h8", "--positions", "9", "--depth", "2"]);
    assert_eq!(built.code, Some(2), "{built:#?}");
    assert!(built.stderr.contains("h8.kbk"), "{built:#?}");
    let searched = ask("query", &file, &["--moves", "h8", "--searched"]);
    assert_eq!(searched.code, Some(2), "{searched:#?}");

    let whole = fs::read(&file).expect("it is there");
    let mut bytes = whole.clone();
    bytes[80] ^= 1;
    fs::write(&file, &bytes).expect("room");
    let (asked, checked) = (ask("query", &file, &["--moves", "h8"]), kagetsu(&["check", "--book", &file]));
    assert_eq!((asked.code, checked.code), (Some(2), Some(1)), "{asked:#?} {checked:#?}");
    assert!(asked.stderr.contains("compile it again"), "{asked:#?}");
    fs::write(&file, &whole[..whole.len() / 2]).expect("room");
    let asked = ask("query", &file, &["--moves", "h8"]);
    assert_eq!(asked.code, Some(2), "{asked:#?}");
    let other = kagetsu(&["compile", "--book", &folder, "--out", &folder]);
    assert_eq!(other.code, Some(2), "{other:#?}");
}
