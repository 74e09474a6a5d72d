use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// Returns the mean of the nodes of a position's search.
    #[must_use]
    pub fn mean_nodes(&self) -> u64 {
        self.nodes / self.positions.max(1)
    }

    /// Adds the statistics of other positions.
    pub fn add(&mut self, other: &Self) {
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
