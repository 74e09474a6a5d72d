use arrayvec::ArrayVec;
use kagetsu_game::xiangqi::{Board, Kind, Square, Squares};

use super::values::worth;

/// Order of capturing pieces, the cheapest first.
const ORDER: [Kind; 7] = [
    Kind::Soldier,
    Kind::Advisor,
    Kind::Elephant,
    Kind::Horse,
    Kind::Cannon,
    Kind::Rook,
    Kind::General,
];

/// Returns the gain of a capture when both sides continue to capture on the point with their
/// cheapest piece as long as it pays (static exchange evaluation). Ignores pins.
pub(super) fn exchange(board: &Board, from: Square, to: Square) -> i32 {
    let (Some(piece), Some(victim)) = (board.at(from), board.at(to)) else {
        return 0;
    };
    let mut gains: ArrayVec<i32, 40> = ArrayVec::new();
    let mut occupied = board.occupied() & !Squares::one(from);
    let (mut side, mut standing) = (piece.side.other(), worth(piece.kind));
    let mut gain = worth(victim.kind);
    gains.push(gain);
    while let Some((square, kind)) = least(board, board.attackers(to, occupied) & board.side(side))
    {
        gain = standing - gain;
        // The capture does not pay even if the capturing piece stays.
        if gains.try_push(gain).is_err() || gain.max(-gains[gains.len() - 2]) < 0 {
            break;
        }
        occupied &= !Squares::one(square);
        (side, standing) = (side.other(), worth(kind));
    }
    while let Some(last) = gains.pop() {
        match gains.last_mut() {
            Some(before) => *before = -last.max(-*before),
            None => return last,
        }
    }
    0
}

fn least(board: &Board, attackers: Squares) -> Option<(Square, Kind)> {
    if attackers.is_empty() {
        return None;
    }
    ORDER
        .into_iter()
        .find_map(|kind| Some(((attackers & board.kind(kind)).lowest()?, kind)))
}
