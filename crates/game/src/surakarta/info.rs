use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::SIZE;
use crate::Variant;
use crate::info::{BoardShape, GameInfo, MoveKind, plain_number};

/// Surakarta in the registry.
pub(crate) const GAME: GameInfo = GameInfo {
    name: "surakarta",
    code: 3,
    variant_names: "surakarta and surakarta-N (N plies without a capture end the game, 1 to 255)",
    has_repetition: true,
    is_square: false,
    has_threat_search: false,
    board: |_| BoardShape {
        columns: SIZE as u8,
        rows: SIZE as u8,
        moves: MoveKind::Movement,
    },
    variants: || {
        (1..=u8::MAX)
            .map(|limit| Variant::Surakarta { limit })
            .collect()
    },
    parse,
    write: |variant| match variant {
        Variant::SURAKARTA => String::from("surakarta"),
        Variant::Surakarta { limit } => format!("surakarta-{limit}"),
        _ => unreachable!("a surakarta variant"),
    },
    from_code: |bytes| match bytes {
        [0, 0, limit] if limit > 0 => Some(Variant::Surakarta { limit }),
        _ => None,
    },
    known_answers: |_| Vec::new(),
};

/// The code of a variant, without the game's byte: 0, 0, limit.
pub(crate) const fn code(limit: u8) -> [u8; 3] {
    [0, 0, limit]
}

/// The usual limit has a name without a number.
fn parse(text: &str) -> Option<Result<Variant, &'static str>> {
    if text == "surakarta" {
        return Some(Ok(Variant::SURAKARTA));
    }
    let limit = plain_number(text.strip_prefix("surakarta-")?).filter(|&limit| limit > 0);
    let variant = limit
        .map(|limit| Variant::Surakarta { limit })
        .filter(|&variant| variant != Variant::SURAKARTA);
    Some(variant.ok_or(
        "the limit of plies without a capture must be from 1 to 255; 80, the usual one, is left out",
    ))
}
