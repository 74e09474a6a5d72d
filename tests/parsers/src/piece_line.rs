//! Lines of moves of xiangqi and surakarta.

use crate::positions::assert_separators;
use crate::variants::with_pieces;
use kagetsu_game::{Position, xiangqi};

/// Asserts that a line of moves of pieces means the same with every separator.
pub fn piece_line(input: (u8, &str)) {
    let (choice, text) = input;
    let variant = with_pieces(choice);
    let _ = Position::start(variant).parse_move(text);
    if let Some(m) = xiangqi::parse_from_one(text) {
        assert_eq!(
            xiangqi::parse_from_one(&xiangqi::write_from_one(m)),
            Some(m)
        );
    }
    if let Ok(position) = Position::from_line(variant, text) {
        assert_separators(&position, &[" ", ", ", "\n"]);
        let _ = (position.outcome(), position.legal_moves(), position.draw());
    }
}
