//! Care of a book: `check`, `repair`, `backup`, `restore`, `compact`, `compile`, `prune`, `merge`,
//! `diff`, `journal`.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod compile;
pub(crate) mod conflicts;
pub(crate) mod diff;
pub(crate) mod journal;
pub(crate) mod merge;
pub(crate) mod prune;
pub(crate) mod repair;
