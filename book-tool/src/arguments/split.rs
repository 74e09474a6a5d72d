use anyhow::{Result, bail};
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
    /// Of a cluster: what one worker finds narrows what the others search, branch by branch of one tree
    Tree,
}

impl Sharing {
    /// As the threads of one engine do it.
    ///
    /// # Errors
    /// Threads have no tree.
    pub(crate) fn of_threads(self) -> Result<Split> {
        match self {
            Self::Shared => Ok(Split::Shared),
            Self::Seeded => Ok(Split::Seeded),
            Self::Tree => bail!(
                "--split tree is for the workers of a cluster: name it with --coordinator URL"
            ),
        }
    }
}

impl From<Sharing> for v1::Split {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Shared => Self::Shared,
            Sharing::Seeded => Self::Seeded,
            Sharing::Tree => Self::Tree,
        }
    }
}

impl From<Sharing> for kagetsu_schedule::Split {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Shared => Self::Shared,
            Sharing::Seeded => Self::Seeded,
            Sharing::Tree => Self::Tree,
        }
    }
}
