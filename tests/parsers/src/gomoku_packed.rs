//! Packed positions, as disk and wire give them: the bytes as they are, and the same bytes cut or
//! filled to the right length, so that most inputs reach the board.
use crate::variants::gomoku;
use kagetsu_game::{Packed, Position};

/// Asserts that a packed gomoku position and its canonical image agree.
pub fn gomoku_packed(input: (u8, u8, &[u8])) {
    let (rule, size, bytes) = input;
    let variant = gomoku(rule, size);
    let length = Position::start(variant).canonical().packed.0.len();
    let mut fitting = bytes.to_vec();
    fitting.resize(length, 0);
    for bytes in [bytes.to_vec(), fitting] {
        let Ok(position) = Position::unpack(variant, Packed(bytes)) else {
            continue;
        };
        let canonical = position.canonical();
        assert_eq!(canonical.key, position.key());
        let image = Position::unpack(variant, canonical.packed).expect("an image of a position");
        assert_eq!(
            (image.key(), image.side(), image.outcome()),
            (canonical.key, position.side(), position.outcome())
        );
        assert_eq!(image.legal_moves().len(), position.legal_moves().len());
        assert_eq!(
            image.forbidden_moves().len(),
            position.forbidden_moves().len()
        );
    }
}
