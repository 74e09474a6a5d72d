//! The values of all positions of a book in little memory.

use kagetsu_game::{Proof, Score};
use kagetsu_store::{Partition, Store, map_partitions};

use crate::base::id::Id;
use crate::base::links::Stage;
use crate::graph::keys::{POSITION, key};
use crate::graph::row::{Row, has_record};
use crate::{BookError, Derived};

/// The values of all positions whose records count, in 25 bytes each: sorted rows, and a directory
/// that leads from a key to the few rows where it can be.
pub(crate) struct ValueTable {
    groups: Vec<StoneCount>,
    rows: Vec<ValueRow>,
    /// For each bucket of a group, its first row in the group.
    buckets: Vec<u32>,
}

/// The positions of a variant with the same number of stones.
struct StoneCount {
    variant: u32,
    stones: u16,
    first_row: usize,
    rows: usize,
    first_bucket: usize,
    buckets: usize,
}

/// A key, and what a move to its position needs of the value.
struct ValueRow {
    key: [u64; 2],
    /// `i16::MIN` for a position without a value.
    score: i16,
    depth: u16,
    plies: u16,
    /// The code of the proof; `NO_PROOF` without one.
    proof: u8,
}

const _: () = assert!(size_of::<ValueRow>() == 24);

const NO_PROOF: u8 = u8::MAX;
/// Rows of a bucket, in the mean.
const ROWS_PER_BUCKET: usize = 4;
/// Partitions of the store that are read together, so that the rest of memory stays small.
const PARTITIONS_TOGETHER: usize = 8;

impl ValueRow {
    fn new(id: Id, row: &Row) -> Self {
        let value = row.value.filter(Derived::has_value);
        let proof = value.and_then(|value| value.proof);
        let key = id.key().0;
        Self {
            key: [(key >> 64) as u64, key as u64],
            score: value.map_or(i16::MIN, |value| value.score.raw()),
            depth: value.map_or(0, |value| value.depth),
            plies: proof.map_or(0, |proof| proof.plies),
            proof: proof.map_or(NO_PROOF, |proof| proof.code()),
        }
    }
}

impl ValueTable {
    /// Reads the values of all positions.
    ///
    /// # Errors
    /// If the store cannot be read, an entry is damaged, or there are more positions than 32 bits
    /// count.
    pub(crate) fn read(store: &dyn Store, positions: u64) -> Result<Self, BookError> {
        let mut table = Self {
            groups: Vec::new(),
            rows: Vec::with_capacity(usize::try_from(positions).unwrap_or(0)),
            buckets: Vec::new(),
        };
        for partitions in Partition::split(store, Some(POSITION)).chunks(PARTITIONS_TOGETHER) {
            let read = |partition: &Partition| read_rows(store, partition);
            for (id, row) in map_partitions(partitions, read, &mut |_| {})?
                .into_iter()
                .flatten()
            {
                table.push(id, row);
            }
        }
        if u32::try_from(table.rows.len()).is_err() {
            return Err(BookError::Entry("the number of positions"));
        }
        table.fill_buckets();
        Ok(table)
    }

    /// Adds a row; rows come in the order of the book.
    fn push(&mut self, id: Id, row: ValueRow) {
        let is_same =
            |group: &&mut StoneCount| (group.variant, group.stones) == (id.variant(), id.stones());
        match self.groups.last_mut().filter(is_same) {
            Some(group) => group.rows += 1,
            None => self.groups.push(StoneCount {
                variant: id.variant(),
                stones: id.stones(),
                first_row: self.rows.len(),
                rows: 1,
                first_bucket: 0,
                buckets: 0,
            }),
        }
        self.rows.push(row);
    }

    fn fill_buckets(&mut self) {
        for group in &mut self.groups {
            group.first_bucket = self.buckets.len();
            group.buckets = group.rows.div_ceil(ROWS_PER_BUCKET);
            let rows = &self.rows[group.first_row..][..group.rows];
            for (nth, row) in (0..).zip(rows) {
                let bucket = group.first_bucket + group.bucket(row.key);
                if self.buckets.len() <= bucket {
                    self.buckets.resize(bucket + 1, nth);
                }
            }
            // The row behind the last is the end of the last buckets.
            let end = group.first_bucket + group.buckets + 1;
            self.buckets.resize(end, group.rows as u32);
        }
    }

    /// Returns the number of positions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of a position in the order of the book; `None` where its record is
    /// missing or does not count.
    pub(crate) fn find(&self, id: Id) -> Option<u32> {
        let (variant, stones, key) = (id.variant(), id.stones(), id.key().0);
        let place = |group: &StoneCount| (group.variant, group.stones).cmp(&(variant, stones));
        let group = &self.groups[self.groups.binary_search_by(place).ok()?];
        let key = [(key >> 64) as u64, key as u64];
        let bounds = &self.buckets[group.first_bucket + group.bucket(key)..];
        let (from, to) = (bounds[0] as usize, bounds[1] as usize);
        let rows = &self.rows[group.first_row + from..group.first_row + to];
        let at = rows.binary_search_by_key(&key, |row| row.key).ok()?;
        u32::try_from(group.first_row + from + at).ok()
    }

    /// Returns the value of the position with a number, without its best move; `None` where nothing
    /// is known of it.
    pub(crate) fn value(&self, number: u32) -> Option<Derived> {
        let row = self.rows.get(number as usize)?;
        let has_proof = row.proof != NO_PROOF;
        let proof = has_proof.then(|| Proof::from_code(row.proof, row.plies));
        Some(Derived {
            score: Score::from_raw(row.score)?,
            proof: proof.flatten(),
            best: None,
            depth: row.depth,
            is_open: false,
        })
    }

    /// Returns the key in the store of the position with a number.
    pub(crate) fn store_key(&self, number: u32) -> Option<Vec<u8>> {
        let row = self.rows.get(number as usize)?;
        let after = self
            .groups
            .partition_point(|group| group.first_row <= number as usize);
        let group = &self.groups[after.checked_sub(1)?];
        let parts: [&[u8]; 4] = [
            &group.variant.to_be_bytes(),
            &group.stones.to_be_bytes(),
            &row.key[0].to_be_bytes(),
            &row.key[1].to_be_bytes(),
        ];
        Some(key(POSITION, &parts))
    }
}

impl StoneCount {
    /// Returns the bucket of a key. Keys are hashes, so the buckets hold about as many rows each.
    fn bucket(&self, key: [u64; 2]) -> usize {
        ((u128::from(key[0]) * self.buckets as u128) >> 64) as usize
    }
}

/// Reads the rows of a partition, except those of positions that were not searched or whose record
/// does not count.
fn read_rows(store: &dyn Store, partition: &Partition) -> Result<Vec<(Id, ValueRow)>, BookError> {
    let mut rows = Vec::new();
    for pair in partition.entries(store) {
        let (key, bytes) = pair?;
        if !has_record(&bytes) {
            continue;
        }
        let id = Id::at_end(&key).ok_or(BookError::Entry("a key"))?;
        let row = Row::read(&key, &bytes).ok_or(BookError::Record(id.key()))?;
        if !matches!(row.links.stage, Stage::Unknown | Stage::Distrusted) {
            rows.push((id, ValueRow::new(id, &row)));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kagetsu_game::{Claim, Key, Move, Proof, ProofKind};
    use proptest::prelude::*;

    use super::*;

    fn derived(score: i16, is_known: bool, plies: Option<u16>) -> Derived {
        Derived {
            score: Score::opinion(score.into()),
            proof: plies.map(|plies| Proof::new(Claim::Loss, ProofKind::Vct, plies)),
            best: is_known.then(|| Move::new(7)),
            depth: score.unsigned_abs(),
            is_open: false,
        }
    }

    /// Keys at the ends of the range, keys close together, and any others.
    fn keys() -> impl Strategy<Value = u128> {
        prop_oneof![0..9_u128, u128::MAX - 9..=u128::MAX, any::<u128>()]
    }

    proptest! {
        #[test]
        fn table_agrees_with_a_map(
            positions in prop::collection::btree_map(
                (0..3_u32, 0..3_u16, keys()),
                (any::<i16>(), any::<bool>(), any::<Option<u16>>()),
                0..200,
            ),
            others in prop::collection::vec((0..4_u32, 0..4_u16, keys()), 50),
        ) {
            let id = |(variant, stones, key)| Id::new(variant, stones, Key(key));
            let mut table = ValueTable { groups: Vec::new(), rows: Vec::new(), buckets: Vec::new() };
            let mut expected = BTreeMap::new();
            for (number, (place, (score, is_known, plies))) in (0..).zip(&positions) {
                let value = derived(*score, *is_known, *plies);
                let row = Row { value: Some(value), ..Row::default() };
                table.push(id(*place), ValueRow::new(id(*place), &row));
                expected.insert(*place, (number, value));
            }
            table.fill_buckets();
            prop_assert_eq!(table.len(), positions.len());
            for place in positions.keys().chain(&others) {
                let found = table.find(id(*place));
                let known = expected.get(place);
                prop_assert_eq!(found, known.map(|(number, _)| *number));
                let Some((number, value)) = known else { continue };
                let without_best = Derived { best: None, ..*value };
                let value = value.has_value().then_some(without_best);
                prop_assert_eq!(table.value(*number), value);
                let store_key = key(POSITION, &[&id(*place).0]);
                prop_assert_eq!(table.store_key(*number), Some(store_key));
            }
        }
    }
}
