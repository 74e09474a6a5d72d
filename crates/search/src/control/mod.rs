pub(crate) mod exchange;
pub(crate) mod limits;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kagetsu_game::Answer;

use crate::Note;
use crate::control::exchange::Exchange;

/// Told of positions as they are visited.
type Pace = Box<dyn Fn(u64) + Send + Sync>;

/// A handle on a running search, for whoever watches it from another thread. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    nodes: AtomicU64,
    pace: Option<Pace>,
    exchange: OnceLock<Exchange>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("stopped", &self.stopped)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// For a search that nobody has stopped yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For a search that somebody keeps in step: `pace` hears of every few hundred positions, on the thread that visits
    /// them, and may keep it waiting.
    #[must_use]
    pub fn paced(pace: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            pace: Some(Box::new(pace)),
            ..Shared::default()
        }))
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

    /// The search is one of several of the same question, of which this is the `number`th from 0: what the others should know
    /// is [said](Self::take_outgoing). To be called before the search begins.
    pub fn share(&self, number: u32, of: u32) {
        self.0.exchange.get_or_init(|| Exchange::new(number, of));
    }

    /// What is to be said to the others since it was last asked for, in order.
    #[must_use]
    pub fn take_outgoing(&self) -> Vec<Note> {
        self.0
            .exchange
            .get()
            .map(Exchange::take_outgoing)
            .unwrap_or_default()
    }

    /// What another has said. It helps; a wrong word does as much harm as a wrong entry of the table.
    pub fn receive(&self, notes: &[Note]) {
        if let Some(exchange) = self.0.exchange.get() {
            exchange.receive(notes);
        }
    }

    pub(crate) fn exchange(&self) -> Option<&Exchange> {
        self.0.exchange.get()
    }

    /// Positions were visited: for who searches.
    pub fn visited(&self, nodes: u64) {
        self.0.nodes.fetch_add(nodes, Relaxed);
        if let Some(pace) = &self.0.pace {
            pace(nodes);
        }
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
