use core::time::Duration;

/// Limits of a search. It stops at the first limit reached; without any it runs until stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Depth of the last iteration in plies, 1 to 100.
    pub depth: Option<u8>,
    /// Positions to visit. With one thread the result is reproducible.
    pub nodes: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

impl Effort {
    /// The deepest iteration of any search.
    pub const MAX_DEPTH: u8 = 100;

    /// An effort limited by depth.
    #[must_use]
    pub const fn depth(depth: u8) -> Self {
        Self {
            depth: Some(depth),
            nodes: None,
            time: None,
        }
    }

    /// An effort limited by positions.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self {
            depth: None,
            nodes: Some(nodes),
            time: None,
        }
    }

    /// An effort limited by time.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self {
            depth: None,
            nodes: None,
            time: Some(time),
        }
    }
}
