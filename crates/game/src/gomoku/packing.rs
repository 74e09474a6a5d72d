use alloc::vec::Vec;

use crate::{Move, Packed, Side, UnpackError, Variant};

/// The contents of a packed position.
pub(super) struct Unpacked<'a> {
    pub(super) side: Side,
    /// Whether Black's forbidden move ended the game.
    pub(super) foul: bool,
    groups: &'a [u8],
}

impl Unpacked<'_> {
    /// Returns the stones by cell code, in ascending order.
    pub(super) fn stones(&self) -> impl Iterator<Item = (u16, Side)> {
        stones_of(self.groups)
    }
}

/// The first byte if the first side has lost by a forbidden move; else it is [`Side`] as 0 or 1.
const FOUL: u8 = 2;

const POWERS: [u8; 5] = [1, 3, 9, 27, 81];

/// The digits of every byte, low ones first.
const DIGITS: [[u8; 5]; 243] = {
    let mut digits = [[0; 5]; 243];
    let mut at = 0;
    while at < 5 * digits.len() {
        digits[at / 5][at % 5] = (at / 5) as u8 / POWERS[at % 5] % 3;
        at += 1;
    }
    digits
};

/// Returns the stones of each side by cell code; `None` for other games.
pub(super) fn stones(variant: Variant, packed: &Packed) -> Option<[Vec<Move>; 2]> {
    let mut stones = [Vec::new(), Vec::new()];
    unpack(variant, packed)
        .ok()?
        .stones()
        .for_each(|(code, side)| stones[side.index()].push(Move::new(code)));
    Some(stones)
}

/// Decodes bytes up to 242. Skips bytes without stones quickly, which are the most frequent.
fn stones_of(groups: &[u8]) -> impl Iterator<Item = (u16, Side)> {
    let groups = (0..).step_by(5).zip(groups).filter(|(_, byte)| **byte != 0);
    groups.flat_map(|(code, byte)| {
        let digits = (code..)
            .zip(DIGITS[usize::from(*byte)])
            .filter(|(_, digit)| *digit != 0);
        digits.map(|(code, digit)| (code, Side::first_if(digit == 1)))
    })
}

fn packed_len(size: u8) -> usize {
    1 + usize::from(size).pow(2).div_ceil(5)
}

/// Packs the side to move (0 or 1; 2: the second, which has won by a forbidden move), then a byte
/// for every five cells: digits in base 3 (empty, first, second), low cells in low digits. The
/// length depends on the size alone.
pub(super) fn pack(
    size: u8,
    side: Side,
    foul: bool,
    stones: impl Iterator<Item = (u16, Side)>,
) -> Packed {
    let mut bytes = alloc::vec![0; packed_len(size)];
    bytes[0] = if foul { FOUL } else { side as u8 };
    for (code, side) in stones {
        let at = usize::from(code);
        bytes[1 + at / 5] += (1 + side as u8) * POWERS[at % 5];
    }
    Packed(bytes)
}

pub(super) fn unpack(variant: Variant, packed: &Packed) -> Result<Unpacked<'_>, UnpackError> {
    let error = |reason| UnpackError { variant, reason };
    let size = variant.gomoku().ok_or_else(|| error("it is no gomoku"))?.1;
    let (&state, groups) = packed
        .0
        .split_first()
        .ok_or_else(|| error("no bytes at all"))?;
    if packed.0.len() != packed_len(size) {
        return Err(error("wrong length"));
    }
    let (side, foul) = match state {
        0 => (Side::First, false),
        1 => (Side::Second, false),
        FOUL => (Side::Second, true),
        _ => return Err(error("side to move is none of 0, 1 and 2")),
    };
    if groups.iter().any(|&byte| byte >= 243) {
        return Err(error("a byte over 242"));
    }
    // Only the last byte has digits beyond the board.
    let last = groups.len() - 1;
    if stones_of(&groups[last..])
        .any(|(code, _)| 5 * last + usize::from(code) >= usize::from(size).pow(2))
    {
        return Err(error("a stone off the board"));
    }
    Ok(Unpacked { side, foul, groups })
}
