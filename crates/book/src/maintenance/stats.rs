use std::fs;
use std::path::Path;

use kagetsu_compiled::{Derived, Stats};
use kagetsu_game::Claim;

use crate::base::id::Id;
use crate::base::node::Node;
use crate::{Book, BookError};

/// Counts one more position.
pub(crate) fn count(stats: &mut Stats, id: Id, node: &Node, value: &Derived) {
    stats.positions += 1;
    *stats.by_stones.entry(id.stones()).or_default() += 1;
    *stats
        .by_depth
        .entry(node.facts.best().map_or(0, |(_, v)| v.depth))
        .or_default() += 1;
    // Without a search the number of a move counts games.
    let searched = node.facts.verdicts().iter().filter(|(_, v)| v.depth > 0);
    let nodes = searched.fold(0, |sum: u64, (_, v)| sum.saturating_add(v.nodes));
    stats.nodes = stats.nodes.saturating_add(nodes);
    match value.proof.map(|proof| proof.claim) {
        Some(Claim::Win) => stats.wins += 1,
        Some(Claim::Loss) => stats.losses += 1,
        Some(Claim::Draw) => stats.draws += 1,
        None => {}
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
