//! All positions of a book in order, for a program that writes them out.

use std::sync::Arc;

use kagetsu_game::{
    Answer, Game, Key, Move, Position, Proof, Score, Side, Symmetry, Verdict, with_game,
};
use kagetsu_store::{Partition, Store};

use crate::base::id::Id;
use crate::base::node::Node;
use crate::book::believed;
use crate::error::BookError;
use crate::graph::derive::Seen;
use crate::graph::index::{copied_names, read_facts};
use crate::graph::keys::POSITION;
use crate::graph::row::{Row, has_record};
use crate::inspection::value_table::ValueTable;
use crate::settings::move_filter::PLY;
use crate::{Book, Choice, Derived};

/// A reader of all positions. It holds their values in memory, so that it reads each record once.
///
/// Several threads may decode records at the same time.
pub struct BookScan<'a> {
    store: &'a dyn Store,
    values: ValueTable,
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
    /// Its number in the order of the book.
    pub number: u32,
    /// The symmetry that leads, after the move, to its canonical orientation.
    pub symmetry: Symmetry,
}

/// A searched move of a [`ScannedEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannedMove {
    /// The position after it, if the book has that.
    pub behind: Option<ScannedChild>,
    /// Value and proof from the position after it; `None` where those of the search count.
    pub backed_up: Option<(Score, Option<Proof>)>,
}

/// A position of a [`BookScan`].
#[derive(Clone, Debug)]
pub struct ScannedEntry {
    /// Its number in the order of the book, less than [`BookScan::len`].
    pub number: u32,
    /// The position, in canonical orientation.
    pub position: Position,
    /// The moves as they were searched.
    pub facts: Answer,
    /// For each searched move, what the book knows of it.
    pub moves: Vec<ScannedMove>,
    /// The move that the book chooses.
    pub best: Option<Move>,
    /// The least priority, in plies, that a job gives to the position; `None` where no job comes
    /// there. A root has priority 0.
    pub priority: Option<f64>,
    /// The key of the position.
    pub key: Key,
    /// Stones or pieces on the board.
    pub stones: u16,
    /// The side to move.
    pub side: Side,
}

impl Book {
    /// Begins a scan. It takes 25 bytes of memory for each searched position.
    ///
    /// # Errors
    /// If the store cannot be read or an entry is damaged.
    pub fn scan(&self) -> Result<BookScan<'_>, BookError> {
        let engines = self.index().engines()?.to_vec();
        Ok(BookScan {
            store: &*self.store,
            values: ValueTable::read(&*self.store, self.len())?,
            engines: copied_names(&engines),
            jobs: self.jobs.specs.keys().map(|job| job.0).collect(),
        })
    }
}

impl BookScan<'_> {
    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether the scan has no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of a position in the order of the book, if the book has its record.
    #[must_use]
    pub fn number(&self, position: &Position) -> Option<u32> {
        let canonical = position.canonical();
        self.values
            .find(Id::of(position.variant().code(), &canonical))
    }

    /// Reads the position with a number; `None` where there is none.
    ///
    /// # Errors
    /// If the store cannot be read or the record is damaged.
    pub fn entry(&self, number: u32) -> Result<Option<ScannedEntry>, BookError> {
        let Some(key) = self.values.store_key(number) else {
            return Ok(None);
        };
        let Some(bytes) = self.store.get(&key)? else {
            return Ok(None);
        };
        self.decode(&StoredRecord { key, bytes })
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
        let id = Id::at_end(key).ok_or(BookError::Entry("a key"))?;
        let row = Row::read(key, bytes).ok_or(BookError::Record(id.key()))?;
        let (Some(record), Some(number)) = (row.record, self.values.find(id)) else {
            return Ok(None);
        };
        let (position, facts) = read_facts(id, &record, &self.engines)?;
        let derived = row.value.ok_or(BookError::Entry("a value"))?;
        let (side, moves) = self.moves(id, &position, &facts)?;
        let best = match derived.best {
            Some(best) => Some(best),
            None => self.choice(id, &position, &facts)?,
        };
        let jobs = self.jobs.iter();
        let priority = jobs.filter_map(|job| row.links.priority(*job)).min();
        Ok(Some(ScannedEntry {
            number,
            position,
            facts,
            moves,
            best,
            priority: priority.map(|priority| priority as f64 / PLY as f64),
            key: id.key(),
            stones: id.stones(),
            side,
        }))
    }

    /// Returns the side to move, and what the book knows of each searched move.
    fn moves(
        &self,
        id: Id,
        position: &Position,
        facts: &Answer,
    ) -> Result<(Side, Vec<ScannedMove>), BookError> {
        let code = position.variant().code();
        with_game!(position.variant(), G => {
            let (mut game, mut legal) = (position.game::<G>(), Vec::new());
            game.moves(&mut legal);
            let mut moves = Vec::with_capacity(facts.len());
            for (m, verdict) in facts.verdicts() {
                if !legal.contains(m) {
                    return Err(BookError::Record(id.key()));
                }
                game.play(*m);
                let (key, symmetry) = game.key_and_symmetry();
                let child = Id::new(code, game.stones(), key);
                let number = self.values.find(child);
                let is_followed = |verdict: &Verdict| {
                    verdict.is_exact() && verdict.proof.is_none() && game.outcome().is_none()
                };
                let value = match number {
                    Some(number) if is_followed(verdict) => self.value_after(id, child, number)?,
                    _ => None,
                };
                game.undo();
                let seen = value.and_then(|value| Seen::from_child(value, verdict));
                moves.push(ScannedMove {
                    behind: number.map(|number| ScannedChild { number, symmetry }),
                    backed_up: seen.map(|seen| (seen.score, seen.proof)),
                });
            }
            Ok((game.side(), moves))
        })
    }

    /// Returns the value of a position, if a followed move leads to it.
    fn value_after(&self, id: Id, child: Id, number: u32) -> Result<Option<Derived>, BookError> {
        let Some(value) = self.values.value(number) else {
            return Ok(None);
        };
        if child.stones() == id.stones() && !self.leads(id, number)? {
            return Ok(None);
        }
        Ok(Some(value))
    }

    /// Returns whether the links of a position with as many stones lead there from `id`: a move by
    /// which the game may return is not followed.
    fn leads(&self, id: Id, number: u32) -> Result<bool, BookError> {
        let key = self.values.store_key(number);
        let key = key.ok_or(BookError::Entry("a key"))?;
        let Some(bytes) = self.store.get(&key)? else {
            return Ok(false);
        };
        let row = Row::read(&key, &bytes).ok_or(BookError::Entry("a row"))?;
        Ok(row.links.is_from(id))
    }

    /// Returns the move that the book chooses where no move has a value.
    fn choice(
        &self,
        id: Id,
        position: &Position,
        facts: &Answer,
    ) -> Result<Option<Move>, BookError> {
        let node = Node::new(position.clone(), facts.clone());
        let node = node.map_err(|_| BookError::Record(id.key()))?;
        let answer = believed(&node, |m| match node.child(m) {
            Some(child) => match self.values.find(child) {
                Some(number) => self.value_after(id, child, number),
                None => Ok(None),
            },
            None => Ok(None),
        })?;
        Ok(Choice::default().pick(&answer).map(|(m, _)| *m))
    }
}
