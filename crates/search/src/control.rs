use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use kagetsu_game::Answer;

/// A handle on a running search, for whoever watches it from another thread. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    nodes: AtomicU64,
}

impl Control {
    /// For a search that nobody has stopped yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the search within milliseconds; it answers with what it has. For good: a stopped control stays so.
    pub fn stop(&self) {
        self.0.stopped.store(true, Relaxed);
    }

    /// Whether the search was told to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Relaxed)
    }

    /// Positions visited so far, a few hundred behind the truth.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.0.nodes.load(Relaxed)
    }

    /// Positions were visited: for who searches.
    pub fn visited(&self, nodes: u64) {
        self.0.nodes.fetch_add(nodes, Relaxed);
    }
}

/// What is known when an iteration ends.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The iteration's depth in plies.
    pub depth: u8,
    /// The answer so far.
    pub answer: Answer,
    /// Positions visited for this question.
    pub nodes: u64,
    /// Since the question was asked.
    pub elapsed: Duration,
}
