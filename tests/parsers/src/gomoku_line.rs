//! Lines of moves, in letters and numbers or in Gomocup's numbers.
use crate::variants::gomoku;
use kagetsu_game::Position;

/// Asserts that a line of gomoku moves means the same with every separator.
pub fn gomoku_line(input: (u8, u8, &str)) {
    let (rule, size, text) = input;
    let variant = gomoku(rule, size);
    let _ = Position::start(variant).parse_move(text);
    if let Ok(position) = Position::from_line(variant, text) {
        let words: Vec<String> = position
            .moves()
            .iter()
            .map(|&m| position.write_move(m))
            .collect();
        for separator in ["", " ", ", ", "_", "\n"] {
            assert_eq!(
                Position::from_line(variant, &words.join(separator)).as_ref(),
                Ok(&position)
            );
        }
        let _ = (
            position.outcome(),
            position.legal_moves(),
            position.forbidden_moves(),
            position.draw(),
        );
    }
}
