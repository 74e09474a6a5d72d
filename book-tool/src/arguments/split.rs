use clap::ValueEnum;
use kagetsu_proto::v1;
use kagetsu_search::Split;

/// How threads, or the workers of a cluster, share a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sharing {
    /// Each searches all of it, and what one learns the others know
    Shared,
    /// The root moves are divided, the best of a 2-ply search first
    Seeded,
}

impl From<Sharing> for Split {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Shared => Self::Shared,
            Sharing::Seeded => Self::Seeded,
        }
    }
}

impl From<Sharing> for v1::Split {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Shared => Self::Shared,
            Sharing::Seeded => Self::Seeded,
        }
    }
}

impl From<Sharing> for kagetsu_schedule::Split {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Shared => Self::Shared,
            Sharing::Seeded => Self::Seeded,
        }
    }
}
