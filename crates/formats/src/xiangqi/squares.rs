//! The 16x16 board on which Chinese programs number the squares of xiangqi: the corner on Black's
//! left is square 0x33, and a row has 16 squares.

use kagetsu_game::Position;

/// Red's pieces in the order of their numbers; Black's follow in the same order.
const PIECES: &str = "KABNRCP";
/// The number of kinds of pieces of both sides.
pub(crate) const KINDS: usize = 14;
/// The number of squares.
pub(crate) const SQUARES: usize = 256;

/// Returns the kind and square of each piece on the board, or on its mirror image; `None` for a
/// position without a FEN.
pub(crate) fn placed(position: &Position, is_mirrored: bool) -> Option<Vec<(usize, usize)>> {
    let fen = position.fen().ok()?;
    let mut placed = Vec::with_capacity(32);
    for (row, text) in fen.split(' ').next()?.split('/').enumerate() {
        let mut file = 0;
        for letter in text.chars() {
            if let Some(empty) = letter.to_digit(10) {
                file += empty as usize;
                continue;
            }
            let name = match letter.to_ascii_uppercase() {
                'H' => 'N',
                'E' => 'B',
                other => other,
            };
            let piece = PIECES.find(name)? + if letter.is_ascii_lowercase() { 7 } else { 0 };
            let at = if is_mirrored {
                8_usize.checked_sub(file)?
            } else {
                file
            };
            placed.push((piece, 16 * (3 + row) + 3 + at));
            file += 1;
        }
    }
    Some(placed)
}

/// Writes a move between two squares in our notation; `None` for squares off the board.
pub(crate) fn text(from: u16, to: u16, is_mirrored: bool) -> Option<String> {
    let square = |code: u16| {
        let (file, row) = ((code & 15).checked_sub(3)?, (code >> 4).checked_sub(3)?);
        let file = if is_mirrored {
            8_u16.checked_sub(file)?
        } else {
            file
        };
        (file < 9 && row < 10).then(|| format!("{}{}", char::from(b'a' + file as u8), 9 - row))
    };
    Some(square(from)? + &square(to)?)
}

/// Reads the two squares of a move in our notation.
pub(crate) fn of_text(text: &str) -> Option<(u16, u16)> {
    let square = |text: &str| {
        let &[file, rank] = text.as_bytes() else {
            return None;
        };
        let (file, rank) = (
            u16::from(file.checked_sub(b'a')?),
            u16::from(rank.checked_sub(b'0')?),
        );
        Some(16 * (3 + 9_u16.checked_sub(rank)?) + 3 + file)
    };
    let (from, to) = text.split_at_checked(2)?;
    Some((square(from)?, square(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_pairs_of_squares() {
        assert_eq!(of_text("h2e2"), Some((0xAA, 0xA7)));
        for name in ["h2e2", "a0a1", "i9i0"] {
            let (from, to) = of_text(name).expect("two squares");
            assert_eq!(text(from, to, false).as_deref(), Some(name));
        }
        assert_eq!(text(0xAA, 0xA7, true).as_deref(), Some("b2e2"));
        assert_eq!(text(0, 0, false), None);
    }
}
