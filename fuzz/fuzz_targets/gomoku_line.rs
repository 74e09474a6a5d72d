//! Lines of moves, in letters and numbers or in Gomocup's numbers.
#![no_main]

use kagetsu_fuzz::gomoku;
use kagetsu_game::Position;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str)| {
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
});
