use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use kagetsu_game::Effort;

use crate::Control;

/// Positions between two checks of the clock and of the control.
const STEP: u64 = 256;

/// The limits of a search, shared by its threads.
#[derive(Debug)]
pub(crate) struct SearchLimits<'a> {
    control: &'a Control,
    begun: Duration,
    effort: Effort,
    nodes: AtomicU64,
    is_over: AtomicBool,
    /// Whether the helper threads must end.
    is_helped: AtomicBool,
}

impl<'a> SearchLimits<'a> {
    pub(crate) fn new(control: &'a Control, effort: Effort) -> Self {
        Self {
            control,
            begun: control.now(),
            effort,
            nodes: AtomicU64::new(0),
            is_over: AtomicBool::new(control.is_stopped()),
            is_helped: AtomicBool::new(false),
        }
    }

    /// Adds `more` positions to `own`, the count of one thread. Returns whether the search must
    /// end.
    ///
    /// Threads add to the shared count in steps, and at once only where the number of positions is
    /// limited.
    #[inline]
    pub(crate) fn count(&self, own: &mut u64, more: u32) -> bool {
        let before = *own;
        *own += u64::from(more);
        if let Some(most) = self.effort.nodes
            && self.nodes.fetch_add(more.into(), Relaxed) + u64::from(more) > most
        {
            self.is_over.store(true, Relaxed);
        }
        if *own / STEP != before / STEP {
            self.look((*own / STEP - before / STEP) * STEP);
        }
        self.is_over.load(Relaxed)
    }

    /// Adds the positions of another search for the same question under the same control.
    pub(crate) fn add(&self, visited: u64) {
        self.nodes.fetch_add(visited, Relaxed);
    }

    /// Checks the clock and the control.
    fn look(&self, visited: u64) {
        if self.effort.nodes.is_none() {
            self.nodes.fetch_add(visited, Relaxed);
        }
        if let Some(exchange) = self.control.exchange() {
            exchange.visited(visited);
        }
        self.control.visited(visited);
        let late = self.effort.time.is_some_and(|time| self.elapsed() >= time);
        if late || self.control.is_stopped() {
            self.is_over.store(true, Relaxed);
        }
    }

    /// Adds the positions of a thread since its last step.
    pub(crate) fn finish(&self, own: u64) {
        let rest = own % STEP;
        if self.effort.nodes.is_none() {
            self.nodes.fetch_add(rest, Relaxed);
        }
        self.control.visited(rest);
    }

    /// Tells the helper threads to end.
    pub(crate) fn dismiss(&self) {
        self.is_helped.store(true, Relaxed);
    }

    /// Whether the helper threads must end.
    pub(crate) fn is_dismissed(&self) -> bool {
        self.is_helped.load(Relaxed)
    }

    pub(crate) fn control(&self) -> &'a Control {
        self.control
    }

    /// Returns the time since the search began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.control.now().saturating_sub(self.begun)
    }

    /// Returns the positions visited by all threads.
    pub(crate) fn nodes(&self) -> u64 {
        self.nodes.load(Relaxed)
    }
}
