//! Waiting for an engine: its deadline, its progress, and the caller's wish to stop.

use std::time::{Duration, Instant};

use kagetsu_search::Control;

use crate::fault::FaultKind;
use crate::process::EngineProcess;

/// Interval between two looks at the control.
const CONTROL_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Interval in which an engine that reports no nodes is credited with one, so that its caller sees
/// progress.
const LIFE_SIGN_INTERVAL: Duration = Duration::from_secs(1);

/// The result of waiting.
pub(crate) enum WatchEvent {
    /// A line.
    Line(String),
    /// The caller wants the search to end.
    Stopped,
    /// The search's time is over.
    Late,
}

/// The state of one search while the caller waits for it.
pub(crate) struct SearchWatch<'a> {
    pub(crate) control: &'a Control,
    stall_timeout: Duration,
    /// The time at which the search should end by itself.
    deadline: Option<Instant>,
    /// The time of the last progress.
    progressed: Instant,
    signed: Instant,
    /// The greatest number of nodes reported for this search.
    nodes: u64,
    depth: u32,
}

impl<'a> SearchWatch<'a> {
    pub(crate) fn new(control: &'a Control, stall_timeout: Duration) -> Self {
        let now = Instant::now();
        Self {
            control,
            stall_timeout,
            deadline: None,
            progressed: now,
            signed: now,
            nodes: 0,
            depth: 0,
        }
    }

    /// Starts a search that should end by itself within the time.
    pub(crate) fn begin(&mut self, time: Option<Duration>) {
        let now = Instant::now();
        (self.progressed, self.signed, self.nodes, self.depth) = (now, now, 0, 0);
        self.deadline = time.and_then(|time| now.checked_add(time));
    }

    /// Records the depth and the nodes that the engine reports.
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

    /// Waits for the next line, or for a reason to stop waiting.
    pub(crate) fn next(
        &mut self,
        process: &mut EngineProcess,
        doing: &'static str,
    ) -> Result<WatchEvent, FaultKind> {
        loop {
            if self.control.is_stopped() {
                return Ok(WatchEvent::Stopped);
            }
            let now = Instant::now();
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(WatchEvent::Late);
            }
            // A search with a time limit is late before it stalls.
            if self.deadline.is_none() && now.duration_since(self.progressed) > self.stall_timeout {
                return Err(FaultKind::Silent(doing, self.stall_timeout));
            }
            if now.duration_since(self.signed) >= LIFE_SIGN_INTERVAL {
                self.control.visited(1);
                self.signed = now;
            }
            if let Some(line) = process.hear(CONTROL_POLL_INTERVAL)? {
                return Ok(WatchEvent::Line(line));
            }
        }
    }
}

/// Waits for the first line that `want` accepts, within the time. A stop by the caller ends the
/// wait.
pub(crate) fn await_line<T>(
    process: &mut EngineProcess,
    control: &Control,
    time: Duration,
    doing: &'static str,
    mut want: impl FnMut(&str) -> Result<Option<T>, FaultKind>,
) -> Result<T, FaultKind> {
    let until = Instant::now() + time;
    loop {
        let Some(left) = until.checked_duration_since(Instant::now()) else {
            return Err(FaultKind::Silent(doing, time));
        };
        if control.is_stopped() {
            return Err(FaultKind::stopped());
        }
        if let Some(line) = process.hear(left.min(CONTROL_POLL_INTERVAL))?
            && let Some(found) = want(&line)?
        {
            return Ok(found);
        }
    }
}
