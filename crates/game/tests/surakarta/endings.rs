//! Endings of games.

use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{MoveError, Outcome, PositionError, Side};

use crate::data::after;

#[test]
fn endings() {
    let (first, second, draw) = (
        Some(Outcome::Win(Side::First)),
        Some(Outcome::Win(Side::Second)),
        Some(Outcome::Draw),
    );
    for (variant, fen, line, outcome) in [
        // The last stone is captured.
        ("surakarta", "6/6/6/6/w5/5b w", "", None),
        ("surakarta", "6/6/6/b5/1w4/6 w", "", None),
        ("surakarta", "6/1w4/6/6/1b4/6 b", "b2b3", None),
        ("surakarta", "6/w5/6/6/b5/6 b", "a2xa5", first),
        ("surakarta", "6/6/6/6/6/bb4 w", "", first),
        ("surakarta", "6/6/6/6/6/6 w", "", draw),
        // The count of quiet plies: from the text, by the variant, begun anew by a capture.
        ("surakarta", "w5/6/6/6/6/bb4 b 79 1", "b1c1", first),
        ("surakarta", "w5/6/6/6/6/bb4 b 78 1", "b1c1", None),
        ("surakarta", "ww4/6/6/6/6/b5 b 79 1", "a1b1", second),
        ("surakarta-3", "w5/6/6/6/6/b5 b", "a1b1 a6b6", None),
        ("surakarta-3", "w5/6/6/6/6/b5 b", "a1b1 a6b6 b1a1", draw),
        ("surakarta", "w5/w5/6/6/b5/6 b 79 1", "a2xa5", None),
        // The third occurrence, the first of which is the setup.
        ("surakarta", "w5/6/6/6/6/bb4 b", "a1a2 a6a5 a2a1 a5a6", None),
        (
            "surakarta",
            "w5/6/6/6/6/bb4 b",
            "a1a2 a6a5 a2a1 a5a6 a1a2 a6a5 a2a1",
            None,
        ),
        (
            "surakarta",
            "w5/6/6/6/6/bb4 b",
            "a1a2 a6a5 a2a1 a5a6 a1a2 a6a5 a2a1 a5a6",
            first,
        ),
        // The side to move is stuck: its stone is in the corner, and its own stones block the
        // circuits.
        (
            "surakarta",
            "wwwwww/wwwwww/wwwwww/wwwwww/bwwwww/bbwwww b",
            "",
            second,
        ),
    ] {
        assert_eq!(
            after(variant, fen, line).outcome(),
            outcome,
            "{variant} {fen}: {line}"
        );
    }
}

/// A corner takes no part in captures, and all its neighbours are occupied.
#[test]
fn no_move_ends_the_game_by_count() {
    let position = after("surakarta", "6/6/6/6/ww4/bw4 b", "");
    assert_eq!(
        (position.outcome(), position.legal_moves()),
        (Some(Outcome::Win(Side::Second)), Vec::new())
    );
}

#[test]
fn ended_game_has_no_moves() {
    let position = after("surakarta", "w5/6/6/6/6/bb4 b 80 1", "");
    assert_eq!(position.outcome(), Some(Outcome::Win(Side::First)));
    let error = PositionError::Move {
        number: 1,
        error: MoveError::AfterEnd("b1c1".into()),
    };
    assert_eq!(position.play_line("b1c1"), Err(error));
}

/// The count belongs to the game, not to the key or the packed position.
#[test]
fn the_key_does_not_count() {
    let (early, late) = (
        after("surakarta", "w5/6/6/6/6/bb4 b", ""),
        after("surakarta", "w5/6/6/6/6/bb4 b 70 1", ""),
    );
    assert_eq!(early.canonical(), late.canonical());
    assert_ne!(early, late);
    assert_eq!(late.game::<Surakarta>().quiet(), 70);
    assert_ne!(
        early.key(),
        after("surakarta-40", "w5/6/6/6/6/bb4 b", "").key()
    );
}
