//! Positions of xiangqi and surakarta as FEN.

use crate::variants::with_pieces;
use kagetsu_game::Position;

/// Asserts that a position with pieces is the same after it was written as a FEN.
pub fn fen(input: (u8, &str)) {
    let (choice, text) = input;
    let variant = with_pieces(choice);
    if let Ok(position) = Position::from_fen(variant, text) {
        let fen = position.fen().expect("a game with a FEN");
        assert_eq!(Position::from_fen(variant, &fen).as_ref(), Ok(&position));
        let _ = (position.outcome(), position.legal_moves(), position.draw());
    }
}
