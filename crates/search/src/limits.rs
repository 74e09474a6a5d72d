use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use kagetsu_game::Effort;

use crate::Control;

/// Positions between two looks at the clock and at the control.
const STEP: u64 = 256;

/// When a search must end; shared by its threads.
#[derive(Debug)]
pub(crate) struct Limits<'a> {
    control: &'a Control,
    begun: Instant,
    effort: Effort,
    nodes: AtomicU64,
    is_over: AtomicBool,
}

impl<'a> Limits<'a> {
    pub(crate) fn new(control: &'a Control, effort: Effort) -> Self {
        Self {
            control,
            begun: Instant::now(),
            effort,
            nodes: AtomicU64::new(0),
            is_over: AtomicBool::new(control.is_stopped()),
        }
    }

    /// Counts one position of `own`, a thread's count of its own; whether the search must end.
    pub(crate) fn count(&self, own: &mut u64) -> bool {
        *own += 1;
        let total = self.nodes.fetch_add(1, Relaxed) + 1;
        if self.effort.nodes.is_some_and(|most| total > most) {
            self.is_over.store(true, Relaxed);
        }
        if total.is_multiple_of(STEP) {
            self.control.visited(STEP);
            let late = self.effort.time.is_some_and(|time| self.begun.elapsed() >= time);
            if late || self.control.is_stopped() {
                self.is_over.store(true, Relaxed);
            }
        }
        self.is_over.load(Relaxed)
    }

    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// Positions visited by all threads.
    pub(crate) fn nodes(&self) -> u64 {
        self.nodes.load(Relaxed)
    }
}
