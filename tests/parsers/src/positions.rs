//! Parts that the laws of gomoku and of the games with pieces share.

use kagetsu_game::{Packed, Position, Variant};

/// Returns the positions that bytes pack: the bytes as they are, and the same bytes cut or filled
/// to the right length, so that most inputs reach the board.
pub(crate) fn unpacked(variant: Variant, bytes: &[u8]) -> impl Iterator<Item = Position> {
    let length = Position::start(variant).canonical().packed.0.len();
    let mut fitting = bytes.to_vec();
    fitting.resize(length, 0);
    [bytes.to_vec(), fitting]
        .into_iter()
        .filter_map(move |bytes| Position::unpack(variant, Packed(bytes)).ok())
}

/// Asserts that the moves of a position lead to it with every separator.
pub(crate) fn assert_separators(position: &Position, separators: &[&str]) {
    let words: Vec<String> = position
        .moves()
        .iter()
        .map(|&m| position.write_move(m))
        .collect();
    for separator in separators {
        assert_eq!(
            Position::from_line(position.variant(), &words.join(separator)).as_ref(),
            Ok(position)
        );
    }
}
