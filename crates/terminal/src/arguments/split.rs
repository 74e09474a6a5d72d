//! How searchers share a position, as an argument.

use clap::ValueEnum;
use kagetsu_proto::v1;
use kagetsu_search::ThreadSplit;

/// How threads, or the workers of a cluster, share the search of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// Each searches the whole position, and they share what they find
    Shared,
    /// Each searches some of the root moves, ordered by a 2-ply search
    Seeded,
}

impl From<SplitArg> for ThreadSplit {
    fn from(sharing: SplitArg) -> Self {
        match sharing {
            SplitArg::Shared => Self::Shared,
            SplitArg::Seeded => Self::Seeded,
        }
    }
}

impl From<SplitArg> for v1::Split {
    fn from(sharing: SplitArg) -> Self {
        match sharing {
            SplitArg::Shared => Self::Shared,
            SplitArg::Seeded => Self::Seeded,
        }
    }
}

impl From<SplitArg> for kagetsu_schedule::Split {
    fn from(sharing: SplitArg) -> Self {
        match sharing {
            SplitArg::Shared => Self::Shared,
            SplitArg::Seeded => Self::Seeded,
        }
    }
}
