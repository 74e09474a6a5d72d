//! Packed positions of xiangqi and surakarta: the bytes as they are, and the same bytes cut or
//! filled to the right length.
use crate::variants::with_pieces;
use kagetsu_game::{Packed, Position};

/// Asserts that a packed position with pieces and its canonical image agree.
pub fn piece_packed(input: (u8, &[u8])) {
    let (choice, bytes) = input;
    let variant = with_pieces(choice);
    let length = Position::start(variant).canonical().packed.0.len();
    let mut fitting = bytes.to_vec();
    fitting.resize(length, 0);
    for bytes in [bytes.to_vec(), fitting] {
        let Ok(position) = Position::unpack(variant, Packed(bytes)) else {
            continue;
        };
        let canonical = position.canonical();
        let image = Position::unpack(variant, canonical.packed).expect("an image of a position");
        assert_eq!(image.key(), canonical.key);
        // The image has no count of quiet plies, which may have ended the game.
        if position.outcome().is_none() {
            assert_eq!(image.legal_moves().len(), position.legal_moves().len());
        }
    }
}
