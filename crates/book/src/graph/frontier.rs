//! The positions that wait to be searched and come first, by job, in memory alone: the links of the
//! positions say the same.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

use crate::BookError;
use crate::base::id::Id;
use crate::graph::cache::ReadCache;
use crate::graph::frontier_change::FrontierChange;
use crate::graph::index::Index;
use crate::graph::keys::{Marker, POSITION};
use crate::graph::row::Row;
use kagetsu_store::Store;
use kagetsu_store::{Partition, map_partitions};

/// Memory of the store for each waiting position in memory, which takes some 50 bytes.
const STORE_BYTES_PER_PLACE: u64 = 256;
/// The fewest positions that a full frontier holds.
const MIN_PLACES: usize = 4_096;

/// A waiting position with its priority; the least is next.
pub(crate) type Place = (u64, Id);

/// The positions of one job that wait and come first.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) first: BTreeSet<Place>,
    /// The place from which on positions wait in the store alone; `None` if all are here.
    pub(crate) end: Option<Place>,
    /// The most positions that are kept.
    most: usize,
}

impl Queue {
    /// Makes an empty queue of the places before `end`.
    pub(crate) fn new(most: usize, end: Option<Place>) -> Self {
        Self {
            first: BTreeSet::new(),
            end,
            most,
        }
    }

    /// Fills the queue from the links in the store, on all cores.
    ///
    /// # Errors
    /// If a row of the store is damaged.
    pub(crate) fn read(
        self,
        store: &dyn Store,
        marker: Marker,
        job: u32,
    ) -> Result<Self, BookError> {
        let queue = Mutex::new(self);
        let pieces = Partition::split(store, Some(POSITION));
        let fill = |piece: &Partition| {
            let waiting = waiting_in(store, marker, piece, job)?;
            let mut queue = queue.lock();
            waiting.into_iter().for_each(|place| queue.insert(place));
            Ok::<(), BookError>(())
        };
        map_partitions(&pieces, fill, &mut |()| {})?;
        Ok(queue.into_inner())
    }

    fn insert(&mut self, place: Place) {
        if self.end.is_some_and(|end| place >= end) {
            return;
        }
        self.first.insert(place);
        if self.first.len() > self.most
            && let Some(middle) = self.first.iter().nth(self.most / 2).copied()
        {
            self.first.split_off(&middle);
            self.end = Some(middle);
        }
    }
}

/// The frontiers of the jobs that have asked for one.
#[derive(Debug)]
pub(crate) struct Frontiers {
    queues: BTreeMap<u32, Queue>,
    /// The most positions of each.
    pub(crate) most: usize,
}

impl Frontiers {
    /// Knows no frontier, of a book whose store takes `cache_bytes` of memory. Each takes at most
    /// a fifth as much.
    pub(crate) fn new(cache_bytes: u64) -> Self {
        let most = usize::try_from(cache_bytes / STORE_BYTES_PER_PLACE).unwrap_or(usize::MAX);
        Self {
            queues: BTreeMap::new(),
            most: most.max(MIN_PLACES),
        }
    }

    /// The frontier of a job, if it was read or begun.
    pub(crate) fn get(&self, job: u32) -> Option<&Queue> {
        self.queues.get(&job)
    }

    /// Returns the positions of a job that come first, at least `n` of them if there are as many.
    pub(crate) fn first(&self, job: u32, n: usize) -> Option<&BTreeSet<Place>> {
        let queue = self.get(job)?;
        (queue.end.is_none() || queue.first.len() >= n).then_some(&queue.first)
    }

    /// Adds the empty frontier of a new job.
    pub(crate) fn begin(&mut self, job: u32) {
        self.queues.insert(job, Queue::new(self.most, None));
    }

    /// Drops the frontiers of all jobs but these.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(u32) -> bool) {
        self.queues.retain(|job, _| is_kept(*job));
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
            let Some(queue) = self.queues.get_mut(&job) else {
                continue;
            };
            if let Some(before) = before {
                queue.first.remove(&(before, id));
            }
            if let Some(now) = now {
                queue.insert((now, id));
            }
        }
    }

    /// Reads the frontier of a job from the links in the store: at least `n` positions, if there
    /// are as many.
    ///
    /// # Errors
    /// If a row of the store is damaged.
    pub(crate) fn read(
        &mut self,
        store: &dyn Store,
        marker: Marker,
        job: u32,
        n: usize,
    ) -> Result<(), BookError> {
        let queue = Queue::new(self.most.max(4 * n), None);
        self.queues.insert(job, queue.read(store, marker, job)?);
        Ok(())
    }
}

/// The positions of one partition that wait for a job.
fn waiting_in(
    store: &dyn Store,
    marker: Marker,
    piece: &Partition,
    job: u32,
) -> Result<Vec<Place>, BookError> {
    let mut index = Index::new(store, marker, ReadCache::default());
    let mut waiting = Vec::new();
    for pair in piece.entries(store) {
        let (key, bytes) = pair?;
        let row = Id::at_end(&key).zip(Row::read(&key, &bytes));
        let (id, row) = row.ok_or(BookError::Entry("a position"))?;
        if let Some(priority) = index.waiting(job, id, &row.links)? {
            waiting.push((priority, id));
        }
    }
    Ok(waiting)
}
