use super::geometry::{ADVISOR_POINTS, ELEPHANT_POINTS, PALACES, has_crossed};
use super::{Board, FILES, Kind, Piece, RANKS, SQUARES, Square};
use crate::notation::fen::split_count;
use crate::{Packed, Side, Symmetry, UnpackError, Variant};

const LENGTH: usize = 1 + SQUARES / 2;

/// Whether a symmetry swaps the sides, which also turns the board upside down.
pub(super) fn swaps(symmetry: Symmetry) -> bool {
    symmetry.number() & 2 != 0
}

/// Returns the image of a point: bit 0 mirrors the files, bit 1 the ranks.
pub(super) fn image(symmetry: Symmetry, square: Square) -> Square {
    let file = if symmetry.number() & 1 == 0 {
        square.file()
    } else {
        FILES - 1 - square.file()
    };
    let rank = if swaps(symmetry) {
        RANKS - 1 - square.rank()
    } else {
        square.rank()
    };
    Square::at(file, rank).expect("a mirror keeps points on the board")
}

pub(super) fn image_side(symmetry: Symmetry, side: Side) -> Side {
    if swaps(symmetry) { side.other() } else { side }
}

/// Packs the side to move, then a byte for every two points, the lower point in the low half: 0
/// empty, 1 to 7 Red's K A B N R C P, 8 to 14 Black's.
pub(super) fn pack(board: &Board, side: Side, symmetry: Symmetry) -> Packed {
    let mut bytes = alloc::vec![0; LENGTH];
    bytes[0] = image_side(symmetry, side) as u8;
    for (square, piece) in board.iter() {
        let (at, piece) = (
            image(symmetry, square).index(),
            piece.turned(swaps(symmetry)),
        );
        bytes[1 + at / 2] |= piece.code() << (4 * (at % 2));
    }
    Packed(bytes)
}

/// Unpacks board, side to move, and plies since the last capture, and checks the board.
pub(super) fn unpack(variant: Variant, packed: &Packed) -> Result<(Board, Side, u8), UnpackError> {
    let error = |reason| UnpackError { variant, reason };
    let (bytes, quiet) = split_count(&packed.0, LENGTH).ok_or_else(|| error("wrong length"))?;
    let side = match bytes[0] {
        0 => Side::First,
        1 => Side::Second,
        _ => return Err(error("side to move is neither 0 nor 1")),
    };
    let mut board = Board::EMPTY;
    let codes = bytes[1..].iter().flat_map(|byte| [byte & 15, byte >> 4]);
    for (code, number) in codes.zip(0..).filter(|&(code, _)| code != 0) {
        let piece = Piece::from_code(code).ok_or_else(|| error("a piece that does not exist"))?;
        board.put(
            Square::new(number).expect("as many halves of bytes as points"),
            piece,
        );
    }
    match flaw(&board, side) {
        Some(reason) => Err(error(reason)),
        None => Ok((board, side, quiet)),
    }
}

/// Returns why a position is impossible, if it is. The numbers of pieces are not checked, except
/// the generals. Positions in which the side to move can capture the general are allowed, as in
/// diagrams and tests; so the side to move may lack its own.
pub(super) fn flaw(board: &Board, side: Side) -> Option<&'static str> {
    let generals = |side| board.pieces(side, Kind::General).count();
    match (generals(side), generals(side.other())) {
        (0 | 1, 1) => board
            .iter()
            .find_map(|(square, piece)| misplaced(square, piece)),
        _ => Some("each side has one general, but the side to move may have lost it"),
    }
}

fn misplaced(square: Square, piece: Piece) -> Option<&'static str> {
    let is_home = !has_crossed(piece.side, square.rank());
    // Ranks above the piece's own first.
    let height = if piece.side == Side::First {
        square.rank()
    } else {
        RANKS - 1 - square.rank()
    };
    let (fits, reason) = match piece.kind {
        Kind::General => (
            is_home && PALACES.has(square),
            "a general outside of its palace",
        ),
        Kind::Advisor => (
            is_home && ADVISOR_POINTS.has(square),
            "an advisor where no advisor goes",
        ),
        Kind::Elephant => (
            is_home && ELEPHANT_POINTS.has(square),
            "an elephant where no elephant goes",
        ),
        Kind::Soldier => (height >= 3, "a soldier behind where soldiers begin"),
        Kind::Horse | Kind::Rook | Kind::Cannon => (true, ""),
    };
    (!fits).then_some(reason)
}
