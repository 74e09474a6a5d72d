//! All positions of a book in order, for a program that writes them out.

use std::sync::Arc;

use kagetsu_game::{Canonical, Game, Key, Side, Symmetry, Variant, with_game};
use kagetsu_store::{Partition, Store};

use crate::book::believed;
use crate::error::BookError;
use crate::graph::id::Id;
use crate::graph::index::{copied_names, read_node};
use crate::graph::keys::POSITION;
use crate::graph::links::Stage;
use crate::graph::node::Node;
use crate::graph::row::{Row, has_record};
use crate::jobs::move_filter::PLY;
use crate::maintenance::full_scan::{Known, known};
use crate::{Book, Entry};

/// A reader of all positions. It holds their values in memory, so that it reads each record once.
///
/// Several threads may decode records at the same time.
pub struct BookScan<'a> {
    store: &'a dyn Store,
    known: Known,
    engines: Vec<Arc<str>>,
    jobs: Vec<u32>,
}

/// A record of a [`BookScan`] that is not decoded yet.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    key: Vec<u8>,
    bytes: Vec<u8>,
}

/// A position of the book behind a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannedChild {
    /// Its key.
    pub key: Key,
    /// The symmetry that leads, after the move, to its canonical orientation.
    pub symmetry: Symmetry,
}

/// A position of a [`BookScan`].
#[derive(Clone, Debug)]
pub struct ScannedEntry {
    /// The position and its moves, in canonical orientation.
    pub entry: Entry,
    /// The least priority, in plies, that a job gives to the position; `None` where no job comes
    /// there. A root has priority 0.
    pub priority: Option<f64>,
    /// The key of the position.
    pub key: Key,
    /// Stones or pieces on the board.
    pub stones: u16,
    /// The side to move.
    pub side: Side,
    /// For each searched move, the position after it, if the book has that.
    pub behind: Vec<Option<ScannedChild>>,
}

impl Book {
    /// Begins a scan. It takes about 100 bytes of memory for each position, and for each position
    /// that waits for a search.
    ///
    /// # Errors
    /// If the store cannot be read or an entry is damaged.
    pub fn scan(&self) -> Result<BookScan<'_>, BookError> {
        let engines = self.index().engines()?.to_vec();
        Ok(BookScan {
            store: &*self.store,
            known: known(&*self.store)?,
            engines: copied_names(&engines),
            jobs: self.specs.keys().map(|job| job.0).collect(),
        })
    }
}

impl BookScan<'_> {
    /// Returns whether the book has a position with its record.
    #[must_use]
    pub fn has(&self, variant: Variant, canonical: &Canonical) -> bool {
        self.has_id(Id::of(variant.code(), canonical))
    }

    fn has_id(&self, id: Id) -> bool {
        !matches!(self.known.stage(id), Stage::Unknown | Stage::Distrusted)
    }

    /// Returns for each searched move of a position the position after it, if the book has that.
    fn behind(&self, node: &Node) -> Vec<Option<ScannedChild>> {
        let variant = node.position.variant();
        let moves = node.facts.verdicts().iter().map(|(m, _)| *m);
        with_game!(variant, G => {
            let mut game = node.position.game::<G>();
            let mut child = |m| {
                game.play(m);
                let (key, symmetry) = game.key_and_symmetry();
                let id = Id::new(variant.code(), game.stones(), key);
                game.undo();
                self.has_id(id).then_some(ScannedChild { key, symmetry })
            };
            moves.map(&mut child).collect()
        })
    }

    /// Returns the records: by variant, then by stones, then by key.
    pub fn records(&self) -> impl Iterator<Item = Result<StoredRecord, BookError>> + '_ {
        Partition::split(self.store, Some(POSITION))
            .into_iter()
            .flat_map(|part| part.entries(self.store))
            // A row without a record is a position that was not searched.
            .filter(|pair| pair.as_ref().map_or(true, |(_, bytes)| has_record(bytes)))
            .map(|pair| {
                let (key, bytes) = pair?;
                Ok(StoredRecord { key, bytes })
            })
    }

    /// Decodes a record; `None` where it does not count.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn decode(&self, record: &StoredRecord) -> Result<Option<ScannedEntry>, BookError> {
        let StoredRecord { key, bytes } = record;
        let id = Id::at_end(key).ok_or(BookError::entry("a key"))?;
        let row = Row::read(key, bytes).ok_or(BookError::record(id.key()))?;
        let Some(record) = row.record else {
            return Ok(None);
        };
        if self.known.stage(id) == Stage::Distrusted {
            return Ok(None);
        }
        let node = read_node(id, &record, &self.engines)?;
        let derived = row.value.ok_or(BookError::entry("a value"))?;
        let answer = believed(&node, |m| {
            let child = node.child(m);
            Ok(child.and_then(|child| self.known.value_after(id, child)))
        })?;
        let jobs = self.jobs.iter();
        let priority = jobs.filter_map(|job| row.links.priority(*job)).min();
        let behind = self.behind(&node);
        Ok(Some(ScannedEntry {
            entry: Entry {
                position: node.position,
                answer,
                facts: node.facts,
                derived,
            },
            priority: priority.map(|priority| priority as f64 / PLY as f64),
            key: id.key(),
            stones: id.stones(),
            side: node.side,
            behind,
        }))
    }
}
