use std::collections::BTreeMap;
use std::time::Duration;

/// A clock that stands still but for the next thing to happen.
#[derive(Debug)]
pub(crate) struct Clock<E> {
    pub(crate) now: Duration,
    events: BTreeMap<(Duration, u64), E>,
    turn: u64,
}

impl<E> Clock<E> {
    pub(crate) const fn new() -> Self {
        Self {
            now: Duration::ZERO,
            events: BTreeMap::new(),
            turn: 0,
        }
    }

    /// What is to happen at a time; of two at the same time the first named is the first.
    pub(crate) fn at(&mut self, at: Duration, event: E) {
        self.turn += 1;
        self.events.insert((at.max(self.now), self.turn), event);
    }

    pub(crate) fn after(&mut self, wait: Duration, event: E) {
        self.at(self.now + wait, event);
    }

    /// The next thing; its time is now.
    pub(crate) fn next(&mut self) -> Option<E> {
        let ((at, _), event) = self.events.pop_first()?;
        self.now = at;
        Some(event)
    }
}
