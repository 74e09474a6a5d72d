//! All positions of a book in order, for a program that writes them out.

use std::sync::Arc;

use kagetsu_game::{Canonical, Game, Key, Side, Variant, with_game};
use kagetsu_store::Partition;

use crate::book::believed;
use crate::error::BookError;
use crate::graph::id::Id;
use crate::graph::index::{copied_names, read_node};
use crate::graph::keys::POSITION;
use crate::graph::links::Stage;
use crate::graph::node::Node;
use crate::graph::row::Row;
use crate::jobs::move_filter::PLY;
use crate::maintenance::full_scan::{Known, known};
use crate::{Book, Entry};

/// A reader of all positions. It holds their values in memory, so that it reads each record once.
pub struct BookScan<'a> {
    book: &'a Book,
    known: Known,
    engines: Vec<Arc<str>>,
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
    /// For each searched move, whether the book has the position after it.
    pub in_book: Vec<bool>,
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
            book: self,
            known: known(&*self.store)?,
            engines: copied_names(&engines),
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

    /// Returns for each searched move of a position whether the book has the position after it.
    fn in_book(&self, node: &Node) -> Vec<bool> {
        let variant = node.position.variant();
        let moves = node.facts.verdicts().iter().map(|(m, _)| *m);
        with_game!(variant, G => {
            let mut game = node.position.game::<G>();
            let mut is_held = |m| {
                game.play(m);
                let id = Id::new(variant.code(), game.stones(), game.key());
                game.undo();
                self.has_id(id)
            };
            moves.map(&mut is_held).collect()
        })
    }

    /// Returns the positions: by variant, then by stones, then by key.
    pub fn entries(&self) -> impl Iterator<Item = Result<ScannedEntry, BookError>> + '_ {
        Partition::split(&*self.book.store, Some(POSITION))
            .into_iter()
            .flat_map(|part| part.entries(&*self.book.store))
            .filter_map(|pair| {
                let read = |(key, bytes): (Vec<u8>, Vec<u8>)| self.entry(&key, &bytes);
                pair.map_err(BookError::from).and_then(read).transpose()
            })
    }

    /// Reads an entry of the store; `None` for a position without a record that counts.
    fn entry(&self, key: &[u8], bytes: &[u8]) -> Result<Option<ScannedEntry>, BookError> {
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
        let jobs = self.book.specs.keys();
        let priority = jobs.filter_map(|job| row.links.priority(job.0)).min();
        let in_book = self.in_book(&node);
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
            in_book,
        }))
    }
}
