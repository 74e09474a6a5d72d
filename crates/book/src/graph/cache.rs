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

/// The most cached nodes, of about 4 KiB each.
const MAX_CACHED_NODES: usize = 8_192;
/// The most cached rows, of about 300 bytes each.
const MAX_CACHED_ROWS: usize = 131_072;

impl Default for ReadCache {
    fn default() -> Self {
        Self {
            nodes: Cache::new(MAX_CACHED_NODES),
            rows: Cache::new(MAX_CACHED_ROWS),
            engines: Vec::new(),
            move_filters: HashMap::new(),
            jobs: None,
            walks: None,
        }
    }
}
