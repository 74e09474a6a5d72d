//! Care of a whole book: checks, statistics, backup, repair, pruning, compaction.

pub(crate) mod annotations;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod compaction;
pub(crate) mod full_scan;
pub(crate) mod prune;
pub(crate) mod quality;
pub(crate) mod repair;
pub(crate) mod stats;
