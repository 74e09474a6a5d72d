//! Moves and positions as text.

use kagetsu_game::{FenError, Move, MoveError, Position, PositionError, Variant};
use proptest::prelude::*;

const VARIANT: Variant = Variant::SURAKARTA;

#[test]
fn moves_are_read_in_every_form() {
    let position = Position::from_fen(VARIANT, "6/w5/6/6/b5/6 b").expect("a position");
    for (text, m) in [
        ("a2xa5", "a2a5"),
        ("a2a5", "a2a5"),
        ("A2xA5", "a2a5"),
        ("a2-a3", "a2a3"),
        ("A2:A5", "a2a5"),
        ("a2a1", "a2a1"),
    ] {
        assert_eq!(
            position.parse_move(text).map(|m| position.write_move(m)),
            Ok(m.to_string()),
            "{text}"
        );
    }
    for text in [
        "", "a2", "a2a", "a2a33", "a2 a3", "a2xxa5", "é2a3", "a2é3", "22a3",
    ] {
        assert_eq!(
            position.parse_move(text),
            Err(MoveError::Text(text.into(), VARIANT)),
            "{text}"
        );
    }
    for text in ["g1f1", "a0a1", "a7a6", "a9b1"] {
        assert_eq!(
            position.parse_move(text),
            Err(MoveError::OffBoard(text.into(), VARIANT)),
            "{text}"
        );
    }
    for (text, reason) in [
        ("a5a4", "the stone is the other side's"),
        ("a2a4", "the stone cannot go there"),
        ("a3a4", "no stone stands there"),
        ("a2a2", "the stone cannot go there"),
    ] {
        assert_eq!(
            position.parse_move(text),
            Err(MoveError::Illegal(text.into(), reason)),
            "{text}"
        );
    }
}

#[test]
fn positions_come_back_as_they_were_written() {
    let start = Position::start(VARIANT);
    assert_eq!(
        start.fen().as_deref(),
        Ok("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1")
    );
    let position = start.play_line("1. c2d3 d5d4 2. d3e3").expect("a line");
    assert_eq!(
        position.fen().as_deref(),
        Ok("wwwwww/www1ww/3w2/4b1/bb1bbb/bbbbbb w 3 2")
    );
    let again =
        Position::from_fen(VARIANT, &position.fen().expect("a FEN")).expect("what we wrote");
    assert_eq!(
        (again.canonical(), again.fen()),
        (
            position.canonical(),
            Ok("wwwwww/www1ww/3w2/4b1/bb1bbb/bbbbbb w 3 1".into())
        )
    );
}

#[test]
fn positions_are_named_by_a_fen_that_can_be_read() {
    let position = Position::from_fen(VARIANT, "6/w5/6/6/b5/6 b")
        .and_then(|p| p.play_line("a2a3"))
        .expect("a position");
    assert_eq!(
        position.to_string(),
        "surakarta from \"6/w5/6/6/b5/6 b 0 1\" a2a3"
    );
    assert_eq!(position.line(), None);
}

#[test]
fn wrong_positions_are_told_why() {
    let rows = |found| format!("the FEN has {found} rows, a board of surakarta has 6");
    let columns =
        |row, found| format!("row {row} of the FEN has {found} points, a board of surakarta has 6");
    let piece = |found| format!("row 6 of the FEN: '{found}' is no piece of surakarta");
    let side = |found| {
        format!("'{found}' after the rows of the FEN does not tell which side moves: b or w")
    };
    let count = |found| format!("'{found}' at the end of the FEN is no number");
    for (text, error) in [
        ("", rows(1)),
        ("6/6/6/6/6 b", rows(5)),
        ("6/6/6/6/6/6/6 b", rows(7)),
        ("6/6/6/6/5/6 b", columns(5, 5)),
        ("6b/6/6/6/6/6 b", columns(1, 7)),
        ("6/6/6/6/6/bbb0bb b", piece('0')),
        ("6/6/6/6/6/bbrbb b", piece('r')),
        ("6/6/6/6/6/6", side("")),
        ("6/6/6/6/6/6 r", side("r")),
        ("6/6/6/6/6/6 b x", count("x")),
        ("6/6/6/6/6/6 b 1 2 3", count("3")),
        ("6/6/6/6/6/6 b 99999999999", count("99999999999")),
    ] {
        let found = Position::from_fen(VARIANT, text)
            .expect_err(text)
            .to_string();
        assert!(found.starts_with(&error), "{text}: {found}");
    }
    let none = FenError::None(Variant::RENJU_15);
    assert_eq!(
        Position::from_fen(Variant::RENJU_15, "8/8 b"),
        Err(PositionError::Fen(none.clone()))
    );
    assert_eq!(Position::start(Variant::RENJU_15).fen(), Err(none));
}

proptest! {
    #[test]
    fn no_text_panics(text in r"(\PC|[a-g0-9/x bw-]){0,40}") {
        let start = Position::start(VARIANT);
        let _ = (start.parse_move(&text), start.play_line(&text));
        if let Ok(position) = Position::from_fen(VARIANT, &text) {
            let fen = position.fen().expect("a FEN");
            prop_assert_eq!(Position::from_fen(VARIANT, &fen), Ok(position));
        }
    }

    #[test]
    fn no_code_panics(code: u16) {
        let m = Move::new(code);
        let start = Position::start(VARIANT);
        let _ = (start.play(m), start.write_move(m));
        for symmetry in VARIANT.symmetries() {
            let _ = VARIANT.image(m, symmetry);
        }
    }
}
