//! Endings of games: mate, stalemate, 120 quiet plies, repetition.

use kagetsu_game::{MoveError, Outcome, PositionError, Side};

use crate::data::{self, after};

const RED: Option<Outcome> = Some(Outcome::Win(Side::First));
const BLACK: Option<Outcome> = Some(Outcome::Win(Side::Second));
const DRAW: Option<Outcome> = Some(Outcome::Draw);

/// Repeats the cycle until the game is over, for at most `most` plies.
fn cycled(variant: &str, fen: &str, cycle: &[&str], most: usize) -> (Option<Outcome>, usize) {
    let mut position = after(variant, fen, "");
    for m in cycle.iter().cycle().take(most) {
        if position.outcome().is_some() {
            break;
        }
        position = position
            .play_line(m)
            .unwrap_or_else(|error| panic!("{fen} {m}: {error}"));
    }
    (position.outcome(), position.moves().len())
}

#[test]
fn no_move_is_a_loss() {
    for (fen, outcome) in [
        ("3k5/9/3P5/9/9/9/9/9/9/4K4 b", RED),
        ("3k5/9/9/9/9/9/9/9/9/3RK4 b", RED),
        ("3k5/9/9/9/9/9/9/9/9/3R1K3 b", None),
        ("3kR4/9/9/9/9/9/9/9/4A4/4K4 b", None),
        ("3k1R3/R8/9/9/9/9/9/9/9/4K4 b", RED),
        ("4k4/9/9/9/9/9/9/9/3r5/4K1r2 w", BLACK),
    ] {
        let position = after("xiangqi", fen, "");
        assert_eq!(
            (position.outcome(), position.legal_moves().is_empty()),
            (outcome, outcome.is_some()),
            "{fen}"
        );
    }
}

#[test]
fn quiet_plies_draw() {
    let rook = |quiet: &str| format!("3k5/9/9/9/9/9/9/p8/R8/4K4 w - - {quiet} 70");
    for (quiet, line, outcome) in [
        ("118", "a1b1", None),
        ("119", "a1b1", DRAW),
        ("119", "a1a2", None),
        ("118", "a1b1 d9d8", DRAW),
        ("120", "", DRAW),
        ("500", "", DRAW),
        ("0", "a1b1", None),
    ] {
        assert_eq!(
            after("xiangqi", &rook(quiet), line).outcome(),
            outcome,
            "{quiet} {line}"
        );
    }
    // Mate with the last ply of the count is mate.
    assert_eq!(
        after("xiangqi", "3k5/R8/9/9/9/5R3/9/9/9/4K4 w - - 119 99", "f4f9").outcome(),
        RED
    );
    let over = after("xiangqi", &rook("119"), "a1b1").play_line("d9d8");
    assert_eq!(
        over,
        Err(PositionError::Move {
            number: 1,
            error: MoveError::AfterEnd("d9d8".into())
        })
    );
}

/// Red's rook checks for ever, Black's general steps back and forth.
#[test]
fn perpetual_check_loses() {
    let (fen, cycle) = (
        "3k5/R8/9/9/9/9/9/9/9/4K4 w",
        ["a8a9", "d9d8", "a9a8", "d8d9"],
    );
    assert_eq!(cycled("xiangqi", fen, &cycle, 20), (BLACK, 8));
}

/// Both generals are checked by every move.
#[test]
fn mutual_perpetual_check_draws() {
    let (fen, cycle) = (
        "4k4/4c4/9/9/9/9/9/4R4/9/3K5 w",
        ["e2d2", "e8d8", "d2e2", "d8e8"],
    );
    assert_eq!(cycled("xiangqi", fen, &cycle, 20).0, DRAW);
}

struct Cycle {
    name: &'static str,
    /// Our verdict if only checks count, and if simple chases do too.
    verdicts: [Option<Outcome>; 2],
    /// Why the latter differs from the table, which comes from a program with fuller chase rules.
    difference: &'static str,
}

const fn cycle(name: &'static str, plain: Option<Outcome>, chase: Option<Outcome>) -> Cycle {
    Cycle {
        name,
        verdicts: [plain, chase],
        difference: "",
    }
}

const CYCLES: &[Cycle] = &[
    cycle("idle-king-shuffle", DRAW, DRAW),
    cycle("rook-chases-unprotected-horse", DRAW, BLACK),
    cycle("rook-chases-unprotected-cannon", DRAW, BLACK),
    cycle("rook-offers-exchange-to-rook", DRAW, DRAW),
    cycle("intermittent-check-rook", DRAW, DRAW),
    cycle("axf-pr466-2", RED, RED),
    cycle("axf-pr466-4", DRAW, RED),
    Cycle {
        difference: "every other move of Black's gives check, which the league counts as no chase",
        ..cycle("axf-pr466-6", DRAW, DRAW)
    },
    cycle("axf-pr466-8", DRAW, DRAW),
    Cycle {
        difference: "rook against rook is an offer to exchange in the league, which asks not for pins",
        ..cycle("axf-pr466-10", DRAW, DRAW)
    },
    cycle("axf-pr466-12", DRAW, DRAW),
];

#[test]
fn cycles_are_judged() {
    let Some(folder) = data::folder("xiangqi") else {
        return;
    };
    let rows = data::json_array(&folder.join("repetition.json"));
    assert_eq!(rows.len(), CYCLES.len());
    for (row, expected) in rows.iter().zip(CYCLES) {
        let text = |name: &str| row[name].as_str().expect("a text");
        assert_eq!(text("name"), expected.name);
        let moves: Vec<&str> = data::strings(&row["cycle"]).collect();
        let judged =
            ["xiangqi", "xiangqi-chase"].map(|variant| cycled(variant, text("fen"), &moves, 40));
        assert_eq!(
            judged.map(|(outcome, _)| outcome),
            expected.verdicts,
            "{}",
            expected.name
        );
        let theirs = match text("fairy_stockfish") {
            "red wins" => RED,
            "black wins" => BLACK,
            "draw" => DRAW,
            other => panic!("{other}"),
        };
        assert_eq!(
            expected.difference.is_empty(),
            judged[1].0 == theirs,
            "{}",
            expected.name
        );
        assert_eq!(
            Some(judged[1].1 as u64),
            row["after_plies"].as_u64(),
            "{}",
            expected.name
        );
    }
}
