use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kagetsu_game::Claim;
use serde::{Deserialize, Serialize};

use crate::{Book, BookError};

/// A book in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Positions with a record.
    pub positions: u64,
    /// Of these by stones on the board.
    pub by_stones: BTreeMap<u16, u64>,
    /// Positions by the depth of their search.
    pub by_depth: BTreeMap<u8, u64>,
    /// Positions proven won, lost and drawn for the side to move.
    pub wins: u64,
    /// See [`Stats::wins`].
    pub losses: u64,
    /// See [`Stats::wins`].
    pub draws: u64,
    /// Positions visited by all searches.
    pub nodes: u64,
    /// Entries of the journal.
    pub entries: u64,
}

impl Book {
    /// The book in numbers; reads it whole.
    ///
    /// # Errors
    /// A damaged record.
    pub fn stats(&self) -> Result<Stats, BookError> {
        let mut stats = Stats { entries: self.marker.applied, ..Stats::default() };
        let mut index = self.index();
        for id in self.ids() {
            let id = id?;
            let node = index.node(id)?.ok_or(BookError::Record(id.key()))?;
            let value = index.value(id)?.ok_or(BookError::Store("a value"))?;
            stats.positions += 1;
            *stats.by_stones.entry(id.stones()).or_default() += 1;
            *stats.by_depth.entry(node.facts.best().map_or(0, |(_, v)| v.depth)).or_default() += 1;
            stats.nodes += node.facts.nodes();
            match value.proof.map(|proof| proof.claim) {
                Some(Claim::Win) => stats.wins += 1,
                Some(Claim::Loss) => stats.losses += 1,
                Some(Claim::Draw) => stats.draws += 1,
                None => {}
            }
        }
        Ok(stats)
    }

    /// Bytes of its files.
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
        bytes += if about.is_dir() { bytes_of(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
