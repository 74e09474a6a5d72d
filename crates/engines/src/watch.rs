//! Who waits for an engine: until when, and who else may end the waiting.

use std::time::{Duration, Instant};

use kagetsu_search::Control;

use crate::fault::Wrong;
use crate::process::Process;

/// Between two looks at the control.
const LOOK: Duration = Duration::from_millis(20);
/// An engine that counts no positions is taken to visit one in this time, so that it is seen to live.
const SIGN: Duration = Duration::from_secs(1);

/// What came of waiting.
pub(crate) enum Event {
    /// A line.
    Line(String),
    /// Somebody wants the search to end.
    Stopped,
    /// The time of the search is up.
    Late,
}

/// One search, as who waits for it sees it.
pub(crate) struct Watch<'a> {
    pub(crate) control: &'a Control,
    patience: Duration,
    /// When the search should end by itself.
    deadline: Option<Instant>,
    /// When it last got on.
    progressed: Instant,
    signed: Instant,
    /// The most that was said of this search.
    nodes: u64,
    depth: u32,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(control: &'a Control, patience: Duration) -> Self {
        let now = Instant::now();
        Self {
            control,
            patience,
            deadline: None,
            progressed: now,
            signed: now,
            nodes: 0,
            depth: 0,
        }
    }

    /// A search begins, which ends by itself within the time.
    pub(crate) fn begin(&mut self, time: Option<Duration>) {
        let now = Instant::now();
        (self.progressed, self.signed, self.nodes, self.depth) = (now, now, 0, 0);
        self.deadline = time.and_then(|time| now.checked_add(time));
    }

    /// What the engine says of how far it is.
    pub(crate) fn progress(&mut self, depth: u32, nodes: u64) {
        if nodes > self.nodes || depth > self.depth {
            self.progressed = Instant::now();
        }
        if nodes > self.nodes {
            self.control.visited(nodes - self.nodes);
            self.signed = self.progressed;
        }
        (self.nodes, self.depth) = (self.nodes.max(nodes), self.depth.max(depth));
    }

    /// Waits for the next line, or for a reason not to wait.
    pub(crate) fn next(
        &mut self,
        process: &mut Process,
        doing: &'static str,
    ) -> Result<Event, Wrong> {
        loop {
            if self.control.is_stopped() {
                return Ok(Event::Stopped);
            }
            let now = Instant::now();
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(Event::Late);
            }
            // A search with a time of its own is late before it is silent.
            if self.deadline.is_none() && now.duration_since(self.progressed) > self.patience {
                return Err(Wrong::Silent {
                    doing,
                    time: self.patience,
                });
            }
            if now.duration_since(self.signed) >= SIGN {
                self.control.visited(1);
                self.signed = now;
            }
            if let Some(line) = process.hear(LOOK)? {
                return Ok(Event::Line(line));
            }
        }
    }
}

/// Waits for a line that `want` takes, of all that comes within the time. Whoever stops does not wait.
pub(crate) fn await_line<T>(
    process: &mut Process,
    control: &Control,
    time: Duration,
    doing: &'static str,
    mut want: impl FnMut(&str) -> Result<Option<T>, Wrong>,
) -> Result<T, Wrong> {
    let until = Instant::now() + time;
    loop {
        let Some(left) = until.checked_duration_since(Instant::now()) else {
            return Err(Wrong::Silent { doing, time });
        };
        if control.is_stopped() {
            return Err(Wrong::Stopped);
        }
        if let Some(line) = process.hear(left.min(LOOK))?
            && let Some(found) = want(&line)?
        {
            return Ok(found);
        }
    }
}
