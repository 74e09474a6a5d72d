use super::{Board, POINTS};
use crate::notation::fen::split_count;
use crate::{Packed, Side, Symmetry, UnpackError, Variant};

/// The digits of a byte in base 3.
const POWERS: [u8; 4] = [1, 3, 9, 27];
const LENGTH: usize = 1 + POINTS / POWERS.len();

/// Returns the image of a point. Symmetries 0 to 7 turn the square; 8 to 15 do the same and swap
/// the sides.
pub(super) fn image(symmetry: Symmetry, point: u8) -> u8 {
    let size = super::SIZE as u8;
    let (x, y) = Symmetry::new(symmetry.number() & 7).square(size, point % size, point / size);
    y * size + x
}

/// Returns the side of a stone's image.
pub(super) fn image_side(symmetry: Symmetry, side: Side) -> Side {
    if symmetry.number() & 8 == 0 {
        side
    } else {
        side.other()
    }
}

/// Packs the side to move, then a byte for every four points: digits in base 3 (empty, first,
/// second), low points in low digits.
pub(super) fn pack(board: &Board, side: Side, symmetry: Symmetry) -> Packed {
    let mut bytes = alloc::vec![0; LENGTH];
    bytes[0] = image_side(symmetry, side) as u8;
    for side in [Side::First, Side::Second] {
        for point in super::board::points(board.stones(side)) {
            let at = usize::from(image(symmetry, point));
            bytes[1 + at / POWERS.len()] +=
                (1 + image_side(symmetry, side) as u8) * POWERS[at % POWERS.len()];
        }
    }
    Packed(bytes)
}

/// Unpacks board, side to move, and plies since the last capture.
pub(super) fn unpack(variant: Variant, packed: &Packed) -> Result<(Board, Side, u8), UnpackError> {
    let error = |reason| UnpackError { variant, reason };
    let (bytes, quiet) = split_count(&packed.0, LENGTH).ok_or_else(|| error("wrong length"))?;
    let side = match bytes[0] {
        0 => Side::First,
        1 => Side::Second,
        _ => return Err(error("side to move is neither 0 nor 1")),
    };
    if bytes[1..].iter().any(|&byte| byte > 80) {
        return Err(error("a byte over 80"));
    }
    let mut board = Board::default();
    let digits = bytes[1..]
        .iter()
        .flat_map(|byte| POWERS.map(|power| byte / power % 3));
    for (digit, point) in digits.zip(0..) {
        match digit {
            0 => {}
            1 => board.flip(point, Side::First),
            _ => board.flip(point, Side::Second),
        }
    }
    Ok((board, side, quiet))
}
