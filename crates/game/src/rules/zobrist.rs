//! Zobrist numbers: constants from a small mixer with a fixed seed, the same in every build.

use crate::Side;

/// Frozen, since every key on disk depends on it. ("kagetsu1" in ASCII.)
const SEED: u64 = 0x6b61_6765_7473_7531;

/// Offset of the salts, above all numbers of points and pieces.
const SALT: u64 = 1 << 32;

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the `index`-th number.
#[must_use]
pub const fn number(index: u64) -> u128 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let low = mix(SEED.wrapping_add(STEP.wrapping_mul(2 * index + 1)));
    let high = mix(SEED.wrapping_add(STEP.wrapping_mul(2 * index + 2)));
    (high as u128) << 64 | low as u128
}

/// Returns the number of a variant. It is part of every hash and key, so variants share no
/// position.
#[must_use]
pub const fn salt(code: u32) -> u128 {
    number(SALT + code as u64)
}

/// The part of the hash for the second side to move.
pub const SECOND_TO_MOVE: u128 = number(SALT - 1);

/// The part of the hash for a game that ended with a forbidden move of the first side.
pub const FORBIDDEN_MOVE: u128 = number(SALT - 2);

/// Returns the value with the side to move in its highest bit. So where a symmetry swaps the sides,
/// the least image has the first side to move.
#[must_use]
pub const fn marked(value: u128, side: Side) -> u128 {
    const HIGHEST: u128 = 1 << 127;
    match side {
        Side::First => value & !HIGHEST,
        Side::Second => value | HIGHEST,
    }
}

/// `N` numbers from `number(first)` on. A program for browsers computes each when it is asked for:
/// nothing compresses them, and they would be an eighth of its download.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    #[cfg(not(target_family = "wasm"))]
    numbers: [u128; N],
    #[cfg(target_family = "wasm")]
    first: u64,
}

#[cfg(not(target_family = "wasm"))]
impl<const N: usize> Table<N> {
    pub(crate) const fn new(first: u64) -> Self {
        let (mut numbers, mut i) = ([0; N], 0);
        while i < N {
            numbers[i] = number(first + i as u64);
            i += 1;
        }
        Self { numbers }
    }

    #[inline]
    pub(crate) const fn get(&self, at: usize) -> u128 {
        self.numbers[at]
    }
}

#[cfg(target_family = "wasm")]
impl<const N: usize> Table<N> {
    pub(crate) const fn new(first: u64) -> Self {
        Self { first }
    }

    #[inline]
    pub(crate) const fn get(&self, at: usize) -> u128 {
        number(self.first + at as u64)
    }
}
