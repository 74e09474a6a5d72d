//! Lines of moves, in letters and numbers or in Gomocup's numbers.

use crate::positions::assert_separators;
use crate::variants::gomoku;
use kagetsu_game::Position;

/// Asserts that a line of gomoku moves means the same with every separator.
pub fn gomoku_line(input: (u8, u8, &str)) {
    let (rule, size, text) = input;
    let variant = gomoku(rule, size);
    let _ = Position::start(variant).parse_move(text);
    if let Ok(position) = Position::from_line(variant, text) {
        assert_separators(&position, &["", " ", ", ", "_", "\n"]);
        let _ = (
            position.outcome(),
            position.legal_moves(),
            position.forbidden_moves(),
            position.draw(),
        );
    }
}
