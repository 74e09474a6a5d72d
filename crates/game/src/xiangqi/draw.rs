use alloc::format;
use alloc::string::String;

use super::{Board, FILES, RANKS, Square, notation};
use crate::Move;

/// Draws the board with coordinates, in the letters of a FEN; `[C]` is the piece that moved last,
/// `[.]` its origin.
pub(super) fn draw(board: &Board, last: Option<Move>) -> String {
    let marked = last.and_then(notation::ends);
    let mut text = String::new();
    for rank in (0..RANKS).rev() {
        text += &format!("{rank} ");
        for square in (0..FILES).filter_map(|file| Square::at(file, rank)) {
            let piece = board.at(square).map_or('.', |piece| piece.letter());
            let is_marked = marked.is_some_and(|(from, to)| square == from || square == to);
            text.extend(if is_marked {
                ['[', piece, ']']
            } else {
                [' ', piece, ' ']
            });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text + "   a  b  c  d  e  f  g  h  i\n"
}
