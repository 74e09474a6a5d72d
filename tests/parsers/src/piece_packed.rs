//! Packed positions of xiangqi and surakarta.

use crate::positions::unpacked;
use crate::variants::with_pieces;
use kagetsu_game::Position;

/// Asserts that a packed position with pieces and its canonical image agree.
pub fn piece_packed(input: (u8, &[u8])) {
    let (choice, bytes) = input;
    let variant = with_pieces(choice);
    for position in unpacked(variant, bytes) {
        let canonical = position.canonical();
        let image = Position::unpack(variant, canonical.packed).expect("an image of a position");
        assert_eq!(image.key(), canonical.key);
        // The image has no count of quiet plies, which may have ended the game.
        if position.outcome().is_none() {
            assert_eq!(image.legal_moves().len(), position.legal_moves().len());
        }
    }
}
