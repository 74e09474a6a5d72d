use alloc::string::String;
use alloc::vec::Vec;

use super::{FILES, RANKS};
use crate::info::{BoardShape, GameInfo, MoveKind};
use crate::position::{KnownAnswer, Position};
use crate::{Chase, Variant};

/// Xiangqi in the registry.
pub(crate) const GAME: GameInfo = GameInfo {
    name: "xiangqi",
    code: 2,
    variant_names: "xiangqi, xiangqi-chase",
    has_repetition: true,
    is_square: false,
    has_threat_search: false,
    board: |_| BoardShape {
        columns: FILES as u8,
        rows: RANKS as u8,
        moves: MoveKind::Movement,
    },
    variants: || Vec::from([Variant::XIANGQI, CHASE]),
    parse: |text| match text {
        "xiangqi" => Some(Ok(Variant::XIANGQI)),
        "xiangqi-chase" => Some(Ok(CHASE)),
        _ => None,
    },
    write: |variant| {
        String::from(if variant == CHASE {
            "xiangqi-chase"
        } else {
            "xiangqi"
        })
    },
    from_code: |bytes| match bytes {
        [0, 0, 0] => Some(Variant::XIANGQI),
        [0, 0, 1] => Some(CHASE),
        _ => None,
    },
    known_answers,
};

const CHASE: Variant = Variant::Xiangqi {
    chase: Chase::Simple,
};

/// The code of a variant, without the game's byte: 0, 0, chase.
pub(crate) const fn code(chase: Chase) -> [u8; 3] {
    [0, 0, chase as u8]
}

/// A check with two replies; a mate in one; a horse with a blocked leg; generals that may not face
/// each other.
fn known_answers(variant: Variant) -> Vec<KnownAnswer> {
    const FENS: [&str; 4] = [
        "3k5/9/9/9/9/9/9/9/3r5/4K4 w - - 0 1",
        "3k5/9/9/9/9/9/9/4R4/9/3RK4 w - - 0 1",
        "4k4/9/9/9/4p4/4N4/9/9/4p4/4K4 b - - 0 1",
        "4k4/9/9/9/9/9/4R4/9/9/4K4 b - - 0 1",
    ];
    let position = |fen| Position::from_fen(variant, fen).expect("the table holds legal positions");
    FENS.map(position).map(KnownAnswer::any_legal_move).into()
}
