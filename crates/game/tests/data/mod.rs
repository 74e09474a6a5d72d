//! Test data that lies beside the repository, for the tests that `mod` this file by its path.
#![allow(dead_code, reason = "every test takes what it needs")]

use std::path::{Path, PathBuf};

use kagetsu_game::{Position, Side, Variant};
use serde_json::Value;

/// The folder of shared test data beside the repository, if it is there.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.find_map(|folder| {
        Some(folder.join("../shared/data").join(name)).filter(|path| path.is_dir())
    });
    if found.is_none() {
        println!("skipped: no folder ../shared/data/{name} beside the repository");
    }
    found
}

pub(crate) fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a file that is one JSON array.
pub(crate) fn json_array(path: &Path) -> Vec<Value> {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a file with one JSON value a line.
pub(crate) fn json_lines(path: &Path) -> Vec<Value> {
    text(path)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// The strings of a JSON array.
pub(crate) fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .expect("an array")
        .iter()
        .map(|item| item.as_str().expect("a string"))
}

/// Returns the position after a line from a FEN.
pub(crate) fn after(variant: &str, fen: &str, line: &str) -> Position {
    let variant: Variant = variant.parse().expect("a variant");
    let position =
        Position::from_fen(variant, fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    position
        .play_line(line)
        .unwrap_or_else(|error| panic!("{fen} {line}: {error}"))
}

/// Returns the board of a row that lists `black` and `white` stones. Black is to move unless `side`
/// says otherwise.
pub(crate) fn board_of(variant: Variant, row: &Value) -> Position {
    let empty = Position::start(variant);
    let size = empty.draw().lines().count() - 1;
    let mut rows = vec![vec!['.'; size]; size];
    for (stones, mark) in [("black", 'X'), ("white", 'O')] {
        for stone in strings(&row[stones]) {
            let cell = empty
                .parse_move(stone)
                .expect("a point of the board")
                .index();
            rows[size - 1 - cell / size][cell % size] = mark;
        }
    }
    let drawn: Vec<String> = rows.into_iter().map(String::from_iter).collect();
    let side = if row["side"] == "white" {
        Side::Second
    } else {
        Side::First
    };
    Position::from_board(variant, &drawn.join("\n"), Some(side)).expect("a drawn board")
}
