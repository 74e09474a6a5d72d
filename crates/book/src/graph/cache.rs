use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use quick_cache::unsync::Cache;

use crate::base::id::Id;
use crate::base::node::Node;
use crate::graph::row::Row;
use crate::settings::move_filter::MoveFilter;

/// A cache of recently read rows. It returns the same rows as the store.
#[derive(Debug)]
pub(crate) struct ReadCache {
    pub(crate) nodes: Cache<Id, Arc<Node>>,
    pub(crate) rows: Cache<Id, Row>,
    pub(crate) engines: Vec<Arc<str>>,
    /// By job, of which there are few; they never change.
    pub(crate) move_filters: HashMap<u32, Arc<MoveFilter>>,
    /// How many there are.
    pub(crate) jobs: Option<u32>,
    /// Positions that jobs have yet to expand, by job and priority, once a job asked for them.
    pub(crate) walks: Option<BTreeSet<(u32, u64, Id)>>,
}

/// Memory of the store for each cached node; a node takes about 6 KiB.
const STORE_BYTES_PER_NODE: u64 = 16 << 10;
/// Memory of the store for each cached row; a row takes about 300 bytes.
const STORE_BYTES_PER_ROW: u64 = 1 << 10;
/// Memory of the store for which a cache is made that serves one operation.
const BRIEF_STORE_BYTES: u64 = 16 << 20;
/// The most cached nodes and rows.
const MAX_CACHED_NODES: usize = 8_192;
const MAX_CACHED_ROWS: usize = 131_072;

impl ReadCache {
    /// Makes an empty cache for a book whose store takes `cache_bytes` of memory. It takes about
    /// two thirds as much.
    pub(crate) fn new(cache_bytes: u64) -> Self {
        let most = |each: u64, limit: usize| {
            let count = usize::try_from(cache_bytes / each).unwrap_or(limit);
            count.min(limit)
        };
        Self {
            nodes: Cache::new(most(STORE_BYTES_PER_NODE, MAX_CACHED_NODES)),
            rows: Cache::new(most(STORE_BYTES_PER_ROW, MAX_CACHED_ROWS)),
            engines: Vec::new(),
            move_filters: HashMap::new(),
            jobs: None,
            walks: None,
        }
    }
}

impl Default for ReadCache {
    fn default() -> Self {
        Self::new(BRIEF_STORE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_is_as_large_as_its_memory() {
        let counts = |mib: u64| {
            let cache = ReadCache::new(mib << 20);
            (cache.nodes.capacity(), cache.rows.capacity())
        };
        for (mib, nodes, rows) in [(0, 0, 0), (16, 1_024, 16_384), (128, 8_192, 131_072)] {
            assert_eq!(counts(mib), (nodes, rows), "{mib} MiB");
        }
        assert_eq!(counts(4_096), counts(128));
    }
}
