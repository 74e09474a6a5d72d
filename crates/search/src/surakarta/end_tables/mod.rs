//! End tables: for every position of few stones whether the side to move wins, draws or loses.
//!
//! A value is that of a position without earlier ones and without quiet plies behind it. It holds
//! under every limit from the longest stretch of its slice on, the quiet plies after which no value
//! of the slice changes. `docs/development/end-tables.md` has the argument, and says which values
//! hold where plies are used already.

mod generate;
mod index;

use std::sync::OnceLock;

use kagetsu_game::Score;

pub use self::generate::build_end_tables;
use self::index::{MAX_STONES, PlaceIndex};

/// Numbers of stones that tables may have.
pub const END_TABLE_PIECES: std::ops::RangeInclusive<u8> = 2..=MAX_STONES as u8;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"KGSURAT1";

/// The values of a place, two bits each, from the view of the side to move.
const LOSS: u8 = 0;
const DRAW: u8 = 1;
const WIN: u8 = 2;
/// No position has this place.
const UNUSED: u8 = 3;

/// The tables that every search uses which is not told otherwise.
static GIVEN: OnceLock<Tables> = OnceLock::new();

/// The values of all positions of at most so many stones.
#[derive(Debug)]
pub(super) struct Tables {
    pieces: u8,
    index: PlaceIndex,
    slices: Vec<Slice>,
}

/// The values of all positions with these numbers of stones.
#[derive(Debug, Default)]
struct Slice {
    /// Plies after which no value changes any more, for this slice and the one with the sides
    /// swapped.
    longest: u8,
    values: Vec<u8>,
}

/// Reasons against a file of end tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndTablesError {
    /// It is something else.
    #[error("this is no file of end tables: `kagetsu tables` builds one")]
    Foreign,
    /// It has too few or too many bytes, or their checksum is wrong.
    #[error("the end tables are incomplete or damaged: build them again with `kagetsu tables`")]
    Damaged,
}

/// Returns the numbers of stones of all slices, those of fewer stones first.
fn all_stones(pieces: u8) -> impl Iterator<Item = (usize, usize)> {
    (2..=usize::from(pieces)).flat_map(|both| (1..both).map(move |mover| (mover, both - mover)))
}

/// Returns the result by the number of stones.
fn majority(mover: usize, other: usize) -> u8 {
    match mover.cmp(&other) {
        std::cmp::Ordering::Less => LOSS,
        std::cmp::Ordering::Equal => DRAW,
        std::cmp::Ordering::Greater => WIN,
    }
}

/// Returns the most stones of the tables that were given; 0 without tables.
#[must_use]
pub fn end_table_pieces() -> u8 {
    GIVEN.get().map_or(0, |tables| tables.pieces)
}

/// Gives the content of a file of end tables to all searches of the program. The first one counts.
///
/// # Errors
/// If it is no file of end tables, or a damaged one.
pub fn give_end_tables(bytes: &[u8]) -> Result<(), EndTablesError> {
    let tables = Tables::read(bytes)?;
    GIVEN.get_or_init(|| tables);
    Ok(())
}

/// Returns the given tables, if they have at most so many stones and hold under the limit.
pub(super) fn given(max_pieces: u8, limit: u8) -> Option<&'static Tables> {
    let holds = |tables: &&Tables| tables.slices.iter().all(|slice| slice.longest <= limit);
    let tables = GIVEN.get().filter(|tables| tables.pieces <= max_pieces);
    tables.filter(holds)
}

impl Slice {
    fn get(&self, place: usize) -> u8 {
        self.values[place / 4] >> (2 * (place % 4)) & 3
    }

    fn set(&mut self, place: usize, value: u8) {
        let (byte, shift) = (&mut self.values[place / 4], 2 * (place % 4));
        *byte = *byte & !(3 << shift) | value << shift;
    }
}

impl Tables {
    fn slice_at(mover: usize, other: usize) -> usize {
        let both = mover + other;
        (both - 1) * (both - 2) / 2 + mover - 1
    }

    fn slice(&self, mover: usize, other: usize) -> &Slice {
        &self.slices[Self::slice_at(mover, other)]
    }

    /// Returns the value of a position for the side to move, also where a side has no stones.
    fn value(&self, mover: u64, other: u64) -> u8 {
        if mover == 0 || other == 0 {
            return if mover == 0 { LOSS } else { WIN };
        }
        let slice = self.slice(mover.count_ones() as usize, other.count_ones() as usize);
        slice.get(self.index.place(mover, other))
    }

    /// Returns the score of a position for the side to move, where so many plies are left until the
    /// limit; `None` for more stones than the tables have, or where the value may not hold.
    pub(super) fn score(&self, mover: u64, other: u64, limit: u8, left: u8) -> Option<Score> {
        let (own, his) = (mover.count_ones() as usize, other.count_ones() as usize);
        if own + his > self.pieces.into() {
            return None;
        }
        let value = self.value(mover, other);
        if value != majority(own, his) && left < self.slice(own, his).longest {
            return None;
        }
        let plies = u16::from(limit) * (own + his - 1) as u16;
        Some(match value {
            WIN => Score::win_in(plies | 1),
            LOSS => Score::loss_in((plies + 1) & !1),
            _ => Score::ZERO,
        })
    }

    /// Reads the content of a file.
    fn read(bytes: &[u8]) -> Result<Self, EndTablesError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(EndTablesError::Foreign)?;
        let (&pieces, mut rest) = rest.split_first().ok_or(EndTablesError::Foreign)?;
        if !END_TABLE_PIECES.contains(&pieces) {
            return Err(EndTablesError::Foreign);
        }
        let index = PlaceIndex::new(pieces);
        let length = |(mover, other)| 1 + index.places(mover, other).div_ceil(4);
        let expected = MAGIC.len() + 1 + all_stones(pieces).map(length).sum::<usize>() + 4;
        let found = bytes.len();
        let (content, checksum) = bytes.split_at(found - 4);
        if found != expected || crc32fast::hash(content).to_le_bytes() != checksum {
            return Err(EndTablesError::Damaged);
        }
        let mut slices = Vec::new();
        for stones in all_stones(pieces) {
            let (slice, behind) = rest.split_at(length(stones));
            slices.push(Slice {
                longest: slice[0],
                values: slice[1..].to_vec(),
            });
            rest = behind;
        }
        Ok(Self {
            pieces,
            index,
            slices,
        })
    }

    /// Returns the content of a file.
    fn write(&self) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &[self.pieces]].concat();
        for slice in &self.slices {
            bytes.push(slice.longest);
            bytes.extend(&slice.values);
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }
}
