//! The positions that wait to be searched, by job, in memory alone: the links of the positions say
//! the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::BookError;
use crate::base::id::Id;
use crate::graph::cache::ReadCache;
use crate::graph::frontier_change::FrontierChange;
use crate::graph::index::Index;
use crate::graph::keys::{Marker, POSITION};
use crate::graph::row::Row;
use kagetsu_store::Store;
use kagetsu_store::{Partition, map_partitions};

/// The positions that wait for one job, with their priorities; the least priority is next.
pub(crate) type Queue = BTreeSet<(u64, Id)>;

/// The frontiers of the jobs that have asked for one. Each takes some 50 bytes for a position that
/// waits.
#[derive(Debug, Default)]
pub(crate) struct Frontiers(BTreeMap<u32, Queue>);

impl Frontiers {
    /// The frontier of a job, if it was read or begun.
    pub(crate) fn get(&self, job: u32) -> Option<&Queue> {
        self.0.get(&job)
    }

    /// Adds the empty frontier of a new job.
    pub(crate) fn begin(&mut self, job: u32) {
        self.0.insert(job, Queue::new());
    }

    /// Drops the frontiers of all jobs but these.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(u32) -> bool) {
        self.0.retain(|job, _| is_kept(*job));
    }

    /// Follows changes that were written to the store.
    pub(crate) fn apply(&mut self, changes: Vec<FrontierChange>) {
        for FrontierChange {
            job,
            id,
            before,
            now,
        } in changes
        {
            let Some(queue) = self.0.get_mut(&job) else {
                continue;
            };
            if let Some(before) = before {
                queue.remove(&(before, id));
            }
            if let Some(now) = now {
                queue.insert((now, id));
            }
        }
    }

    /// Reads the frontier of a job from the links in the store, on all cores.
    ///
    /// # Errors
    /// If a row of the store is damaged.
    pub(crate) fn read(
        &mut self,
        store: &dyn Store,
        marker: Marker,
        job: u32,
    ) -> Result<(), BookError> {
        let queues = map_partitions(
            &Partition::split(store, Some(POSITION)),
            |piece| waiting_in(store, marker, piece, job),
            &mut |_| {},
        )?;
        self.0.insert(job, queues.into_iter().flatten().collect());
        Ok(())
    }
}

/// The positions of one partition that wait for a job.
fn waiting_in(
    store: &dyn Store,
    marker: Marker,
    piece: &Partition,
    job: u32,
) -> Result<Vec<(u64, Id)>, BookError> {
    let mut index = Index::new(store, marker, ReadCache::default());
    let mut waiting = Vec::new();
    for pair in piece.entries(store) {
        let (key, bytes) = pair?;
        let row = Id::at_end(&key).zip(Row::read(&key, &bytes));
        let (id, row) = row.ok_or(BookError::entry("a position"))?;
        if let Some(priority) = index.waiting(job, id, &row.links)? {
            waiting.push((priority, id));
        }
    }
    Ok(waiting)
}
