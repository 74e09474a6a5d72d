//! Features of xiangqi for the fit of its network.

use kagetsu_game::{Position, Side, Variant};

use crate::EngineOptions;
use crate::heuristics::{Heuristics, Situation};
use crate::xiangqi::{self, Board, PieceNetwork};

/// Centi-units of one logit in xiangqi.
pub const PIECE_LOGIT_CENTI: f32 = 400.0;

/// The pieces of a xiangqi position from the view of the side to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceFeatures {
    /// The side to move.
    pub side: Side,
    /// The inputs of the network, below [`PIECE_INPUTS`](super::PIECE_INPUTS).
    pub inputs: Vec<u16>,
    /// The value of pieces and squares in centi-units, for the side to move.
    pub base: i32,
    /// The part of the network behind the first layer that values the position, below
    /// [`PIECE_HEADS`](super::PIECE_HEADS).
    pub head: usize,
}

/// Returns the pieces of a xiangqi position, or `None` where a check must be met or the game is
/// over.
#[must_use]
pub fn pieces(position: &Position) -> Option<PieceFeatures> {
    let board = board(position)?;
    (!board.is_check() && board.situation() == Situation::Free).then(|| PieceFeatures {
        side: position.side(),
        inputs: board.inputs(position.side()).collect(),
        base: board.base(),
        head: xiangqi::head_at(board.phase()),
    })
}

fn board(position: &Position) -> Option<Board> {
    matches!(position.variant(), Variant::Xiangqi { .. })
        .then(|| Board::new(&position.game(), &EngineOptions::default()))
}

/// Returns the static value of a xiangqi position in centi-units for the side to move, with the
/// weights of a file or the engine's own; `None` for other games and other files.
#[must_use]
pub fn piece_value(position: &Position, weights: Option<&[u8]>) -> Option<i32> {
    let board = board(position)?;
    match weights {
        Some(weights) => Some(board.valued_by(&PieceNetwork::read(weights)?)),
        None => Some(board.evaluate().raw().into()),
    }
}
