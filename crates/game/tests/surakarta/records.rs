//! Boards and games of other programs.

use kagetsu_game::surakarta::{POINTS, Surakarta};
use kagetsu_game::{Outcome, Position, Side, Variant};

use crate::data;
use crate::tracks::table_moves;

type Board = [Option<Side>; POINTS];

/// Six rows of words from the top; `first` and `second` are the words of the sides.
fn board(rows: &[&str], first: &str, second: &str) -> Board {
    let mut board = [None; POINTS];
    for (row, text) in rows.iter().rev().enumerate() {
        for (column, word) in text.split_whitespace().enumerate() {
            let side = [(first, Side::First), (second, Side::Second)]
                .into_iter()
                .find(|(name, _)| *name == word);
            board[row * 6 + column] = side.map(|(_, side)| side);
        }
    }
    board
}

/// Quiet and all moves, of both sides.
#[test]
fn counts_of_moves_on_scattered_boards() {
    let Some(folder) = data::folder("surakarta/cjx32") else {
        return;
    };
    let text = data::text(&folder.join("testMoveGenerate.txt"));
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut boards = 0;
    for rows in lines.chunks_exact(7) {
        let expected: Vec<usize> = rows[6]
            .split_whitespace()
            .map(|word| word.parse().expect("a number"))
            .collect();
        let board = board(&rows[..6], "1", "2");
        // The counts are also given where one side has no stone, and the game would be over.
        if board.contains(&Some(Side::First)) && board.contains(&Some(Side::Second)) {
            let counts = |side| {
                let moves = table_moves(&board, side);
                (
                    moves
                        .iter()
                        .filter(|m| board[m.index() % POINTS].is_none())
                        .count(),
                    moves.len(),
                )
            };
            let ((q1, t1), (q2, t2)) = (counts(Side::First), counts(Side::Second));
            assert_eq!([q2, q1, t2, t1], expected[..], "{rows:?}");
            boards += 1;
        }
    }
    println!("{boards} boards with stones of both sides");
    assert!(boards > 5000);
}

/// Rules are judged there with points as column and row, row 0 at the top, and Black on move.
#[test]
fn judged_moves() {
    let Some(folder) = data::folder("surakarta/panjd123_ruletest") else {
        return;
    };
    let files = data::json_array(&folder.join("meta.json"));
    let mut judged = 0;
    for file in &files {
        let text = data::text(&folder.join(file["filename"].as_str().expect("a name")));
        let board = board(&text.lines().take(6).collect::<Vec<_>>(), "B", "W");
        for row in file["moves"].as_array().expect("moves") {
            let (text, reason) = (
                row["move"].as_str().expect("a move"),
                row["reason"].as_str().expect("a reason"),
            );
            let [fx, fy, tx, ty, side] = text.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{text}")
            };
            let point = |x: &str, y: &str| {
                let (x, y): (usize, usize) =
                    (x.parse().expect("a column"), y.parse().expect("a row"));
                (x < 6 && y < 6).then(|| (5 - y) * 6 + x)
            };
            let side = if side == "B" {
                Side::First
            } else {
                Side::Second
            };
            let legal = point(fx, fy).zip(point(tx, ty)).is_some_and(|(from, to)| {
                table_moves(&board, side)
                    .iter()
                    .any(|m| m.index() == from * POINTS + to)
            });
            assert_eq!(
                legal,
                reason.starts_with("Legal"),
                "{}: {text}, {reason}",
                file["filename"]
            );
            judged += 1;
        }
    }
    assert_eq!(judged, 9);
}

/// Random games to their end; `r` is the first side there, `b` the second.
#[test]
fn games_replay_to_their_results() {
    let Some(folder) = data::folder("surakarta") else {
        return;
    };
    let games = data::json_lines(&folder.join("own_random_games.jsonl"));
    for game in &games {
        let line: Vec<&str> = data::strings(&game["moves"]).collect();
        let position = Position::from_line(Variant::Surakarta { limit: 255 }, &line.join(" "));
        let position = position.unwrap_or_else(|error| panic!("{}: {error}", game["id"]));
        let expected = match (game["end"].as_str(), game["result"].as_str()) {
            (Some("all captured"), Some("1-0")) => Some(Outcome::Win(Side::First)),
            (Some("all captured"), Some("0-1")) => Some(Outcome::Win(Side::Second)),
            (end, result) => panic!("{}: {end:?}, {result:?}", game["id"]),
        };
        assert_eq!(position.outcome(), expected, "{}", game["id"]);
        let board = *position.game::<Surakarta>().board();
        let counts = [Side::First, Side::Second].map(|side| u64::from(board.count(side)));
        assert_eq!(
            counts,
            ["red", "black"].map(|name| game[name].as_u64().expect("a count")),
            "{}",
            game["id"]
        );
    }
    println!("{} games replayed", games.len());
}
