use std::collections::{BTreeMap, BTreeSet};

use kagetsu_game::gomoku::{Forbidden, Lines, Point, forbidden};
use kagetsu_game::{Position, Variant};
use serde_json::Value;

use crate::data::{board_of, folder, json_lines, strings};
use crate::definition::Board;
use crate::dice::{Dice, cases};

fn forbidden_points(position: &Position) -> BTreeMap<String, String> {
    let points = position.forbidden_moves().into_iter();
    points
        .map(|(m, reason)| (position.write_move(m), reason.to_string()))
        .collect()
}

/// Returns the row's stones with Black to move.
fn position_of(row: &Value) -> Position {
    board_of(Variant::RENJU_15, row)
}

/// Compares with four programs point by point. Where several reasons hold, the reasons may differ,
/// since each program has its own order.
#[test]
fn forbidden_points_match_four_programs() {
    let Some(folder) = folder("renju/forbidden") else {
        return;
    };
    for file in ["consensus_random.jsonl", "consensus_puzzle_positions.jsonl"] {
        let rows = json_lines(&folder.join(file));
        assert!(rows.len() >= 700, "{file}");
        for row in rows {
            let expected: BTreeSet<&String> = row["forbidden"]
                .as_object()
                .expect("an object")
                .keys()
                .collect();
            let found = forbidden_points(&position_of(&row));
            assert_eq!(
                found.keys().collect::<BTreeSet<_>>(),
                expected,
                "{}",
                row["id"]
            );
        }
    }
}

/// Every row has a computed result and its author's expectation, which agree.
#[test]
fn hand_made_shapes_match_their_authors() {
    let Some(folder) = folder("renju/forbidden") else {
        return;
    };
    let mut expectations = 0;
    for row in json_lines(&folder.join("fixtures.jsonl")) {
        let found = forbidden_points(&position_of(&row));
        match (&row["computed"], row["probe"].as_str()) {
            (computed, Some(probe)) => {
                assert_eq!(
                    found.get(probe).map(String::as_str),
                    computed.as_str(),
                    "{}",
                    row["id"]
                )
            }
            (computed, None) => assert_eq!(serde_json::json!(found), *computed, "{}", row["id"]),
        }
        for (point, expected) in author_expects(&row) {
            assert_eq!(
                found.contains_key(&point),
                expected,
                "{} {point}",
                row["id"]
            );
            expectations += 1;
        }
    }
    assert!(
        expectations >= 100,
        "only {expectations} of the authors' answers were understood"
    );
}

/// Returns the points that the author of a row expects to be forbidden or allowed. Each of the four
/// repositories has its own format.
fn author_expects(row: &Value) -> Vec<(String, bool)> {
    if let (Some(probe), Some(text)) = (row["probe"].as_str(), row["expected_by_author"].as_str()) {
        return vec![(probe.to_owned(), !text.starts_with("not forbidden"))];
    }
    if let Some(code) = row["author_assert"].as_str() {
        // forbidden(&square, Point(7, 7)); assert_eq!(result, Some(DoubleFour)) and
        // [(DoubleThree, Point(2, 12)), ...]
        let points = code.split("Point(").skip(1);
        return points
            .map(|rest| (rust_point(rest), !rest.contains("assert_eq!(result, None)")))
            .collect();
    }
    // EXPECT_FALSE(forbidden_at(Move("Xa0"))): X is Black, rows count from the top. If a point has
    // several lines, only the first is about these stones.
    let mut expected: Vec<(String, bool)> = Vec::new();
    for text in strings(&row["author_asserts"]) {
        let Some((_, point)) = text.split_once("Move(\"X") else {
            continue;
        };
        let row: u8 = point[1..]
            .split('"')
            .next()
            .and_then(|digits| digits.parse().ok())
            .expect("a row from the top");
        let point = format!("{}{}", &point[..1], 15 - row);
        if expected.iter().all(|(known, _)| *known != point) {
            expected.push((point, text.starts_with("EXPECT_TRUE")));
        }
    }
    expected
}

/// Reads a point such as `7, 8)...`: column and row from 0, from the lower left.
fn rust_point(text: &str) -> String {
    let (x, rest) = text.split_once(", ").expect("two numbers");
    let (y, _) = rest.split_once(')').expect("a closing bracket");
    let (x, y): (u8, u8) = (x.parse().expect("a column"), y.parse().expect("a row"));
    format!("{}{}", char::from(b'a' + x), y + 1)
}

/// Number of cases for each reason.
type Tally = BTreeMap<Option<Forbidden>, usize>;

/// Compares the fast code with the definition on every empty point.
fn compare(board: &Board, seed: u64, tally: &mut Tally) {
    let (mut black, mut empty) = (Lines::NONE, Lines::full(board.size as u8));
    let points: Vec<(i32, i32)> = (0..board.size)
        .flat_map(|y| (0..board.size).map(move |x| (x, y)))
        .collect();
    let point = |(x, y)| Point {
        x: x as u8,
        y: y as u8,
    };
    for &at in &points {
        if !board.is_empty(at) {
            empty.flip(point(at));
        }
        if board.black.has(at) {
            black.flip(point(at));
        }
    }
    for &at in points.iter().filter(|&&at| board.is_empty(at)) {
        let expected = board.forbidden(at);
        assert_eq!(
            forbidden(&black, &empty, point(at)),
            expected,
            "seed {seed}, point {at:?} of\n{board}"
        );
        *tally.entry(expected).or_default() += 1;
    }
}

/// Returns random stones on boards of all sizes, sparse to crowded.
fn strewn(dice: &mut Dice) -> Board {
    let size = if dice.roll(16) == 0 {
        16 + dice.roll(7)
    } else {
        5 + dice.roll(11)
    } as i32;
    let (black, white) = (2 + dice.roll(14), dice.roll(10));
    let mut board = Board {
        size,
        ..Board::default()
    };
    for at in (0..size).flat_map(|y| (0..size).map(move |x| (x, y))) {
        match dice.roll(32) {
            n if n < black => board.black.toggle(at),
            n if n < black + white => board.white.toggle(at),
            _ => {}
        }
    }
    board
}

/// Returns stones played in turn, each within two steps of an earlier one, as in a game.
fn grown(dice: &mut Dice) -> Board {
    let mut board = Board {
        size: 15,
        ..Board::default()
    };
    let mut stones = vec![(7, 7)];
    board.black.toggle((7, 7));
    let wanted = 8 + dice.roll(56);
    while stones.len() < wanted {
        let (x, y) = stones[dice.roll(stones.len())];
        let at = (x + dice.roll(5) as i32 - 2, y + dice.roll(5) as i32 - 2);
        if board.is_empty(at) {
            if stones.len() % 2 == 0 {
                board.black.toggle(at)
            } else {
                board.white.toggle(at)
            }
            stones.push(at);
        }
    }
    board
}

fn judge_boards(boards: usize, make: fn(&mut Dice) -> Board) -> Tally {
    let mut tally = Tally::new();
    for seed in 0..boards as u64 {
        compare(&make(&mut Dice::new(seed)), seed, &mut tally);
    }
    println!("{boards} boards: {tally:?}");
    tally
}

#[test]
fn forbidden_matches_definition_on_random_stones() {
    let tally = judge_boards(cases(6_000), strewn);
    assert_eq!(
        tally.len(),
        4,
        "every reason, and none, must be met: {tally:?}"
    );
}

#[test]
fn forbidden_matches_definition_on_game_boards() {
    let tally = judge_boards(cases(20_000) / 10, grown);
    assert_eq!(
        tally.len(),
        4,
        "every reason, and none, must be met: {tally:?}"
    );
}
