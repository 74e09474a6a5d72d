//! Packed positions, as disk and wire give them.

use crate::positions::unpacked;
use crate::variants::gomoku;
use kagetsu_game::Position;

/// Asserts that a packed gomoku position and its canonical image agree.
pub fn gomoku_packed(input: (u8, u8, &[u8])) {
    let (rule, size, bytes) = input;
    let variant = gomoku(rule, size);
    for position in unpacked(variant, bytes) {
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
