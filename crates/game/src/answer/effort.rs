use core::time::Duration;

/// How hard to think: the search stops at whichever limit comes first; no limit at all means until it is told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Plies of the deepest iteration, 1 to 100.
    pub depth: Option<u8>,
    /// Positions to visit. With one thread the result is the same every time.
    pub nodes: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

impl Effort {
    /// The deepest iteration that a search will ever begin.
    pub const MAX_DEPTH: u8 = 100;

    /// To a fixed depth.
    #[must_use]
    pub const fn depth(depth: u8) -> Self {
        Self {
            depth: Some(depth),
            nodes: None,
            time: None,
        }
    }

    /// A fixed number of positions.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self {
            depth: None,
            nodes: Some(nodes),
            time: None,
        }
    }

    /// A fixed time.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self {
            depth: None,
            nodes: None,
            time: Some(time),
        }
    }
}
