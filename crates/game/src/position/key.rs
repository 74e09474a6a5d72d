use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::{Packed, Symmetry, quote};

/// The key of a position up to symmetry and transposition: the least 128-bit Zobrist value of its
/// images, salted by the variant. Frozen, since books on disk depend on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

/// 32 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Text that is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a key: 32 hexadecimal digits are expected", quote(.0))]
pub struct KeyError(String);

impl FromStr for Key {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let value = if digits {
            u128::from_str_radix(text, 16).ok()
        } else {
            None
        };
        value.map(Self).ok_or_else(|| KeyError(text.into()))
    }
}

/// A position in the form that books store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// Its key.
    pub key: Key,
    /// The image of the position that has the least Zobrist value.
    pub packed: Packed,
    /// The symmetry that leads to that image.
    pub symmetry: Symmetry,
    /// Stones or pieces on the board; a book on disk is ordered by this and the key.
    pub stones: u16,
}
