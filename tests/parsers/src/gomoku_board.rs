//! Drawn boards.

use crate::variants::gomoku;
use kagetsu_game::{Position, Side};

/// Asserts that a drawn board is the same when it is drawn again.
pub fn gomoku_board(input: (u8, u8, Option<bool>, &str)) {
    let (rule, size, side, text) = input;
    let variant = gomoku(rule, size);
    let side = side.map(|first| if first { Side::First } else { Side::Second });
    if let Ok(position) = Position::from_board(variant, text, side) {
        let again = Position::from_board(variant, &position.draw(), Some(position.side()));
        assert_eq!(again.as_ref(), Ok(&position));
        let _ = (
            position.outcome(),
            position.legal_moves(),
            position.forbidden_moves(),
        );
    }
}
