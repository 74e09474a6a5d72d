//! Moves and positions as text.

use kagetsu_game::xiangqi::{parse_from_one, write_from_one};
use kagetsu_game::{Move, MoveError, Position, Variant};
use proptest::prelude::*;

const VARIANT: Variant = Variant::XIANGQI;
const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

#[test]
fn moves_are_read_in_every_form() {
    let start = Position::start(VARIANT);
    for (text, m) in [
        ("h2e2", "h2e2"),
        ("H2-E2", "h2e2"),
        ("h2h9", "h2h9"),
        ("h3h10", "h2h9"),
        ("H3-H10", "h2h9"),
    ] {
        assert_eq!(
            start.parse_move(text).map(|m| start.write_move(m)),
            Ok(m.to_string()),
            "{text}"
        );
    }
    for text in [
        "", "h2", "h2e", "h2e22", "h2 e2", "é2e2", "h2é2", "22e2", "h2e2x", "h100",
    ] {
        assert_eq!(
            start.parse_move(text),
            Err(MoveError::Text(text.into(), VARIANT)),
            "{text}"
        );
    }
    for text in ["j2e2", "h2z2", "h10e0", "h0e10"] {
        assert_eq!(
            start.parse_move(text),
            Err(MoveError::OffBoard(text.into(), VARIANT)),
            "{text}"
        );
    }
    let (none, other) = ("no piece stands there", "the piece is the other side's");
    for (text, named, reason) in [
        ("h3e3", "h3e3", none),
        ("e2e3", "e2e3", none),
        ("h7e7", "h7e7", other),
        ("h2h8", "h2h8", "another piece is in the way"),
        ("C2+6", "h2h8", "another piece is in the way"),
        ("a0a3", "a0a3", "another piece is in the way"),
        ("a0b1", "a0b1", "the piece does not move so"),
    ] {
        assert_eq!(
            start.parse_move(text),
            Err(MoveError::Illegal(named.into(), reason)),
            "{text}"
        );
    }
    // A rook that leaves the file of both generals.
    let fen = "4k4/9/9/9/9/9/9/9/4R4/4K4 w";
    let pinned = Position::from_fen(VARIANT, fen).expect("a position");
    assert_eq!(
        pinned.parse_move("R5=4"),
        Err(MoveError::Illegal(
            "e1f1".into(),
            "it leaves the own general in check"
        ))
    );
}

/// Moves survive the round trip through the notation with ranks from 1.
#[test]
fn ranks_from_one() {
    let start = Position::start(VARIANT);
    for m in start.legal_moves() {
        assert_eq!(parse_from_one(&write_from_one(m)), Some(m));
    }
    let cannon = parse_from_one("h3e3").expect("a move");
    assert_eq!(
        (start.write_move(cannon), write_from_one(cannon)),
        ("h2e2".into(), "h3e3".into())
    );
    assert_eq!(
        parse_from_one("a10a9").map(|m| start.write_move(m)),
        Some("a9a8".into())
    );
    assert_eq!(
        (
            parse_from_one("a0a1"),
            parse_from_one("a11a1"),
            parse_from_one("")
        ),
        (None, None, None)
    );
}

#[test]
fn positions_come_back_as_they_were_written() {
    assert_eq!(Position::start(VARIANT).fen().as_deref(), Ok(START));
    for text in [
        START,
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR r - - 0 1",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR[] w - - 0 1",
        "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w 0 1",
        "rnmgkgmnr/54/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBSKSBNR r",
    ] {
        assert_eq!(
            Position::from_fen(VARIANT, text),
            Ok(Position::start(VARIANT)),
            "{text}"
        );
    }
    let position = Position::start(VARIANT)
        .play_line("1. h2e2 h9g7 2. h0g2")
        .expect("a line");
    let fen = "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C1N2/9/RNBAKAB1R b - - 3 2";
    assert_eq!(position.fen().as_deref(), Ok(fen));
    assert_eq!(
        Position::from_fen(VARIANT, fen).map(|position| position.key()),
        Ok(position.key())
    );
}

#[test]
fn wrong_positions_are_told_why() {
    let impossible = |reason| format!("no game of xiangqi comes to this position: {reason}");
    for (text, error) in [
        (
            "9/9 w",
            "the FEN has 2 rows, a board of xiangqi has 10".to_string(),
        ),
        (
            "3k5/9/9/9/9/9/9/9/9/4K5 w",
            "row 10 of the FEN has 10 points, a board of xiangqi has 9".into(),
        ),
        (
            "3k5/9/9/9/9/9/9/9/9/4K3x w",
            "row 10 of the FEN: 'x' is no piece of xiangqi and no number of empty points".into(),
        ),
        (
            "3k5/9/9/9/9/9/9/9/9/4K4 g",
            "'g' after the rows of the FEN does not tell which side moves: w (or r) or b is expected".into(),
        ),
        (
            "3k5/9/9/9/9/9/9/9/9/4K4 w - - one",
            "'one' at the end of the FEN is no number; plies since the last capture and a move \
             number may stand there".into(),
        ),
        (
            "9/9/9/9/9/9/9/9/9/4K4 w",
            impossible("each side has one general, but the side to move may have lost it"),
        ),
        (
            "3kk4/9/9/9/9/9/9/9/9/5K3 w",
            impossible("each side has one general, but the side to move may have lost it"),
        ),
        (
            "k8/9/9/9/9/9/9/9/9/4K4 w",
            impossible("a general outside of its palace"),
        ),
        (
            "3K5/9/9/9/9/9/9/9/9/4k4 w",
            impossible("a general outside of its palace"),
        ),
        (
            "3k5/9/9/9/9/9/9/9/A8/4K4 w",
            impossible("an advisor where no advisor goes"),
        ),
        (
            "3k5/9/4B4/9/9/9/9/9/9/4K4 w",
            impossible("an elephant where no elephant goes"),
        ),
        (
            "3k5/9/9/9/9/9/9/P8/9/4K4 w",
            impossible("a soldier behind where soldiers begin"),
        ),
    ] {
        let found = Position::from_fen(VARIANT, text).expect_err(text);
        assert_eq!(found.to_string(), error, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in r"(\PC|[a-j0-9/kKRC wbr-]){0,60}") {
        let start = Position::start(VARIANT);
        let _ = (start.parse_move(&text), start.play_line(&text), parse_from_one(&text));
        if let Ok(position) = Position::from_fen(VARIANT, &text) {
            let fen = position.fen().expect("a FEN");
            prop_assert_eq!(Position::from_fen(VARIANT, &fen), Ok(position));
        }
    }

    #[test]
    fn no_code_panics(code: u16) {
        let m = Move::new(code);
        let start = Position::start(VARIANT);
        let _ = (start.play(m), start.write_move(m), write_from_one(m));
        for symmetry in VARIANT.symmetries() {
            let _ = VARIANT.image(m, symmetry);
        }
    }
}
