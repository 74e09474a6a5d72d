use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kagetsu_game::Claim;
use serde::{Deserialize, Serialize};

use crate::graph::id::Id;
use crate::graph::node::Node;
use crate::{Book, BookError, Derived};

/// The statistics of a book.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Positions with a record.
    pub positions: u64,
    /// Positions by stones on the board.
    pub by_stones: BTreeMap<u16, u64>,
    /// Positions by the depth of their search.
    pub by_depth: BTreeMap<u8, u64>,
    /// Positions proven won for the side to move.
    pub wins: u64,
    /// Positions proven lost for the side to move.
    pub losses: u64,
    /// Positions proven drawn.
    pub draws: u64,
    /// Positions visited by all searches.
    pub nodes: u64,
    /// Entries of the journal.
    pub entries: u64,
}

impl Stats {
    pub(crate) fn count(&mut self, id: Id, node: &Node, value: &Derived) {
        self.positions += 1;
        *self.by_stones.entry(id.stones()).or_default() += 1;
        *self
            .by_depth
            .entry(node.facts.best().map_or(0, |(_, v)| v.depth))
            .or_default() += 1;
        self.nodes = self.nodes.saturating_add(node.facts.nodes());
        match value.proof.map(|proof| proof.claim) {
            Some(Claim::Win) => self.wins += 1,
            Some(Claim::Loss) => self.losses += 1,
            Some(Claim::Draw) => self.draws += 1,
            None => {}
        }
    }

    /// Adds the statistics of other positions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        other
            .by_stones
            .iter()
            .for_each(|(stones, count)| *self.by_stones.entry(*stones).or_default() += count);
        other
            .by_depth
            .iter()
            .for_each(|(depth, count)| *self.by_depth.entry(*depth).or_default() += count);
        self.wins += other.wins;
        self.losses += other.losses;
        self.draws += other.draws;
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.entries += other.entries;
    }
}

impl Book {
    /// Returns the size of the files of the book in bytes.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn bytes(&self) -> Result<u64, BookError> {
        bytes_of(&self.path)
    }
}

fn bytes_of(folder: &Path) -> Result<u64, BookError> {
    let fail = |error| BookError::io("cannot read", folder)(error);
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let about = entry.metadata().map_err(fail)?;
        bytes += if about.is_dir() {
            bytes_of(&entry.path())?
        } else {
            about.len()
        };
    }
    Ok(bytes)
}
