use std::collections::BTreeMap;
use std::time::Duration;

/// A clock that stands still but for the next thing to happen.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    pub(crate) now: Duration,
    events: BTreeMap<(Duration, u64), E>,
    turn: u64,
}

impl<E> EventQueue<E> {
    pub(crate) const fn new() -> Self {
        Self {
            now: Duration::ZERO,
            events: BTreeMap::new(),
            turn: 0,
        }
    }

    /// Adds an event at a time. Events of the same time happen in the order of the calls.
    pub(crate) fn at(&mut self, at: Duration, event: E) {
        self.turn += 1;
        self.events.insert((at.max(self.now), self.turn), event);
    }

    pub(crate) fn after(&mut self, wait: Duration, event: E) {
        self.at(self.now + wait, event);
    }

    /// Removes the next event and sets the clock to its time.
    pub(crate) fn next(&mut self) -> Option<E> {
        let ((at, _), event) = self.events.pop_first()?;
        self.now = at;
        Some(event)
    }
}
