pub(crate) mod exchange;
pub(crate) mod limits;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use kagetsu_game::Answer;

use crate::Note;
use crate::control::exchange::Exchange;

/// A callback that receives the number of newly visited positions.
type Pace = Box<dyn Fn(u64) + Send + Sync>;

/// A clock that never goes back: the time since any moment.
type Clock = fn() -> Duration;

/// The moment from which the clock of the system counts.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A handle to watch or stop a running search from another thread. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    nodes: AtomicU64,
    pace: Option<Pace>,
    /// The clock of a caller whose system has none that Rust knows, as a browser.
    clock: Option<Clock>,
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
    /// Returns a control that has not been stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a control that reads the time from a clock of the caller, and calls `pace` every few
    /// hundred positions, on the searching thread. The callback may block to slow the search down.
    #[must_use]
    pub fn clocked(clock: Clock, pace: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            clock: Some(clock),
            pace: Some(Box::new(pace)),
            ..Shared::default()
        }))
    }

    /// Returns a control with the same clock that has not been stopped.
    pub(crate) fn renewed(&self) -> Self {
        Self(Arc::new(Shared {
            clock: self.0.clock,
            ..Shared::default()
        }))
    }

    /// Returns the time of the clock.
    pub(crate) fn now(&self) -> Duration {
        self.0
            .clock
            .map_or_else(|| BEGUN.elapsed(), |clock| clock())
    }

    /// Ends the search within milliseconds; it answers with the result so far. A stopped control
    /// stays stopped.
    pub fn stop(&self) {
        self.0.stopped.store(true, Relaxed);
    }

    /// Whether the search has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Relaxed)
    }

    /// Returns the positions visited so far, to within a few hundred.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.0.nodes.load(Relaxed)
    }

    /// Makes the search one of `of` searches of the same question, the one with this `number`,
    /// counted from 0. Must be called before the search begins. [`Control::take_outgoing`] returns
    /// the notes for the others.
    pub fn share(&self, number: u32, of: u32) {
        self.0.exchange.get_or_init(|| Exchange::new(number, of));
    }

    /// Returns the notes for the other searches since the last call, in order.
    #[must_use]
    pub fn take_outgoing(&self) -> Vec<Note> {
        self.0
            .exchange
            .get()
            .map(Exchange::take_outgoing)
            .unwrap_or_default()
    }

    /// Passes on notes of another search. A wrong note harms no more than a wrong table entry.
    pub fn receive(&self, notes: &[Note]) {
        if let Some(exchange) = self.0.exchange.get() {
            exchange.receive(notes);
        }
    }

    pub(crate) fn exchange(&self) -> Option<&Exchange> {
        self.0.exchange.get()
    }

    /// Adds visited positions. The search calls it.
    pub fn visited(&self, nodes: u64) {
        self.0.nodes.fetch_add(nodes, Relaxed);
        if let Some(pace) = &self.0.pace {
            pace(nodes);
        }
    }
}

/// The state of a search after an iteration.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The iteration's depth in plies.
    pub depth: u8,
    /// The answer so far.
    pub answer: Answer,
    /// Positions visited for this question so far.
    pub nodes: u64,
    /// Time since the search began.
    pub elapsed: Duration,
}
