//! Values of pieces and squares in centi-units. A soldier that has not crossed the river is worth
//! 80.

use kagetsu_game::Side;
use kagetsu_game::xiangqi::{FILES, Kind, Piece, RANKS, SQUARES, Square};

/// A value for the middle game and one for the endgame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PieceValue {
    pub(super) middle: i32,
    pub(super) end: i32,
}

impl PieceValue {
    pub(super) const fn new(middle: i32, end: i32) -> Self {
        Self { middle, end }
    }
}

impl std::ops::AddAssign for PieceValue {
    fn add_assign(&mut self, other: Self) {
        self.middle += other.middle;
        self.end += other.end;
    }
}

impl std::ops::SubAssign for PieceValue {
    fn sub_assign(&mut self, other: Self) {
        self.middle -= other.middle;
        self.end -= other.end;
    }
}

/// Gain of capturing each kind, for the move order and for exchanges.
pub(super) const WORTH: [i32; 7] = [20_000, 200, 200, 420, 950, 450, 100];

/// Share of each kind in the game phase; all pieces together make [`WHOLE`].
pub(super) const PHASE: [i32; 7] = [0, 0, 0, 2, 4, 2, 0];
pub(super) const WHOLE: i32 = 32;

/// Material, middle game and endgame.
const MATERIAL: [PieceValue; 7] = [
    PieceValue::new(0, 0),
    PieceValue::new(180, 190),
    PieceValue::new(180, 200),
    PieceValue::new(410, 450),
    PieceValue::new(940, 1_000),
    PieceValue::new(470, 440),
    PieceValue::new(80, 100),
];

/// Files `a` to `e` of ranks 0 to 9; files `f` to `i` are their mirror.
type Half = [[i16; 5]; RANKS];

const GENERAL: Half = [
    [0, 0, 0, -8, 0],
    [0, 0, 0, -20, -16],
    [0, 0, 0, -36, -32],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
];
const ADVISOR: Half = [
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 6],
    [0, 0, 0, -6, 0],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
];
const ELEPHANT: Half = [
    [0; 5],
    [0; 5],
    [-10, 0, 0, 0, 10],
    [0; 5],
    [0, 0, -4, 0, 0],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
    [0; 5],
];
const HORSE: Half = [
    [-24, -18, -8, -8, -14],
    [-12, -4, 0, 2, -30],
    [-6, 2, 10, 4, 2],
    [-2, 4, 6, 8, 6],
    [2, 10, 12, 14, 12],
    [4, 12, 14, 18, 18],
    [6, 18, 20, 22, 18],
    [6, 16, 22, 26, 16],
    [2, 16, 28, 18, 4],
    [-6, 0, 6, 6, -2],
];
const ROOK: Half = [
    [-12, 4, 2, 8, -4],
    [-2, 6, 4, 10, -4],
    [-6, 4, 2, 8, 4],
    [0, 8, 4, 10, 8],
    [4, 10, 8, 14, 12],
    [6, 12, 10, 16, 14],
    [6, 12, 8, 16, 14],
    [6, 14, 12, 18, 18],
    [8, 16, 14, 22, 26],
    [6, 10, 10, 16, 14],
];
const CANNON: Half = [
    [0, 2, 4, 6, 6],
    [0, 2, 4, 6, 6],
    [0, 4, 6, 6, 18],
    [0, 0, 0, 2, 6],
    [-2, 0, 4, 2, 10],
    [0, 0, 0, 4, 12],
    [0, 4, 4, 6, 14],
    [2, 4, 2, -4, -6],
    [6, 6, 2, -8, -10],
    [10, 10, 4, -8, -10],
];
const SOLDIER: Half = [
    [0; 5],
    [0; 5],
    [0; 5],
    [-4, 0, 0, 0, 8],
    [2, 0, 14, 0, 14],
    [30, 40, 50, 60, 60],
    [50, 70, 90, 100, 96],
    [60, 90, 120, 134, 130],
    [60, 96, 134, 160, 160],
    [0, 10, 20, 40, 50],
];
const HALVES: [&Half; 7] = [
    &GENERAL, &ADVISOR, &ELEPHANT, &HORSE, &ROOK, &CANNON, &SOLDIER,
];

/// By kind and point, for Red. A general's point counts in the middle game only.
static VALUES: [[PieceValue; SQUARES]; 7] = values();

const fn values() -> [[PieceValue; SQUARES]; 7] {
    let mut table = [[PieceValue::new(0, 0); SQUARES]; 7];
    let mut at = 0;
    while at < 7 * SQUARES {
        let (kind, square) = (at / SQUARES, at % SQUARES);
        let (rank, file) = (square / FILES, square % FILES);
        let place = HALVES[kind][rank][if file < 5 { file } else { FILES - 1 - file }] as i32;
        let PieceValue { middle, end } = MATERIAL[kind];
        table[kind][square] =
            PieceValue::new(middle + place, if kind == 0 { end } else { end + place });
        at += 1;
    }
    table
}

/// Returns the value of a piece on its point, for its own side.
pub(super) fn value(piece: Piece, square: Square) -> PieceValue {
    let index = match piece.side {
        Side::First => square.index(),
        Side::Second => (RANKS - 1 - square.rank()) * FILES + square.file(),
    };
    VALUES[piece.kind.index()][index]
}

pub(super) const fn worth(kind: Kind) -> i32 {
    WORTH[kind.index()]
}
