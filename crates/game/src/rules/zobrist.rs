//! Zobrist numbers: constants from a small mixer with a written seed, so that every build on every machine has the same.

use crate::Side;

/// Written once, never changed: every key on disk depends on it. ("kagetsu" and the two moves that make it.)
const SEED: u64 = 0x6b61_6765_7473_7531;

/// Salt, distinct from all numbers of points and pieces.
const SALT: u64 = 1 << 32;

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `index`-th number.
#[must_use]
pub const fn number(index: u64) -> u128 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let low = mix(SEED.wrapping_add(STEP.wrapping_mul(2 * index + 1)));
    let high = mix(SEED.wrapping_add(STEP.wrapping_mul(2 * index + 2)));
    (high as u128) << 64 | low as u128
}

/// The number of a variant; part of every hash and key, so that no two variants share a position.
#[must_use]
pub const fn salt(code: u32) -> u128 {
    number(SALT + code as u64)
}

/// Part of a hash when the second side is to move.
pub const SECOND_TO_MOVE: u128 = number(SALT - 1);

/// Part of a hash when the game was ended by a move that is forbidden to the first side.
pub const FORBIDDEN_MOVE: u128 = number(SALT - 2);

/// The value with its highest bit telling who moves. Where a symmetry swaps the sides, the least of the images is so
/// always one with the first side to move.
#[must_use]
pub const fn marked(value: u128, side: Side) -> u128 {
    const HIGHEST: u128 = 1 << 127;
    match side {
        Side::First => value & !HIGHEST,
        Side::Second => value | HIGHEST,
    }
}

/// A table of `N` numbers from `number(first)` on.
#[must_use]
pub const fn table<const N: usize>(first: u64) -> [u128; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = number(first + i as u64);
        i += 1;
    }
    table
}
