use std::cmp::Ordering;

use kagetsu_game::{Canonical, Key, Packed, Position, Variant};

use serde::{Deserialize, Serialize};

use crate::BookError;

/// Names a position in a book; in byte order positions of a variant with fewer stones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Id(pub(crate) [u8; Id::LEN]);

impl Id {
    /// Variant, stones, key; big-endian.
    pub(crate) const LEN: usize = 4 + 2 + 16;

    pub(crate) fn new(variant: u32, stones: u16, key: Key) -> Self {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&variant.to_be_bytes());
        bytes[4..6].copy_from_slice(&stones.to_be_bytes());
        bytes[6..].copy_from_slice(&key.0.to_be_bytes());
        Self(bytes)
    }

    pub(crate) fn of(variant: u32, canonical: &Canonical) -> Self {
        Self::new(variant, canonical.stones, canonical.key)
    }

    /// The id at the end of a store key.
    pub(crate) fn at_end(key: &[u8]) -> Option<Self> {
        key.last_chunk().map(|bytes| Self(*bytes))
    }

    pub(crate) fn variant(self) -> u32 {
        u32::from_be_bytes(self.0[..4].try_into().expect("4 bytes"))
    }

    pub(crate) fn stones(self) -> u16 {
        u16::from_be_bytes(self.0[4..6].try_into().expect("2 bytes"))
    }

    pub(crate) fn key(self) -> Key {
        Key(u128::from_be_bytes(
            self.0[6..].try_into().expect("16 bytes"),
        ))
    }
}

/// By bytes, but as two numbers: ordered containers compare ids more often than anything else.
impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        let head = |id: &Self| id.0.first_chunk().map(|bytes| u128::from_be_bytes(*bytes));
        let tail = |id: &Self| id.0.last_chunk().map(|bytes| u64::from_be_bytes(*bytes));
        head(self)
            .cmp(&head(other))
            .then_with(|| tail(self).cmp(&tail(other)))
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A place in the order of a book: by variant, then by stones, then by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub(crate) Id);

impl Place {
    /// Where a position stands, whether the book holds it or not.
    #[must_use]
    pub fn of(position: &Position) -> Self {
        Self(Id::of(position.variant().code(), &position.canonical()))
    }
}

/// A position from its packed form.
pub(crate) fn unpack(code: u32, packed: &[u8]) -> Result<Position, BookError> {
    let variant = Variant::from_code(code).map_err(|error| BookError::Position(error.into()))?;
    Ok(Position::unpack(variant, Packed(packed.to_vec()))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_are_in_the_order_of_their_bytes(one: [u8; Id::LEN], mut other: [u8; Id::LEN], common in 0..=Id::LEN) {
            other[..common].copy_from_slice(&one[..common]);
            prop_assert_eq!(Id(one).cmp(&Id(other)), one.cmp(&other));
        }
    }
}
