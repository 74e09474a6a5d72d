use alloc::string::String;
use core::time::Duration;

use kagetsu_schedule::WorkerId;

/// The cause of a quarantine, which decides whom it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This process only: it failed its calibration or too many tasks. None of its answers was
    /// found wrong, and a restarted worker may try again.
    Process,
    /// Also later processes of the same name (operator's workers) or token (volunteers): an answer
    /// was wrong.
    Principal,
}

/// Why a worker gets no tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// The fault, for people.
    pub reason: String,
    /// Time of its beginning on the caller's clock.
    pub since: Duration,
    /// Workers that it covers.
    pub scope: Scope,
}

/// A quarantined worker as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedWorker {
    /// Instance number of the process.
    pub worker: WorkerId,
    /// Name of the worker.
    pub name: String,
    /// Name and version of its engine.
    pub engine: String,
    /// Name of the token that it used, if any.
    pub token: Option<String>,
    /// Whether it was a volunteer.
    pub is_volunteer: bool,
    /// The quarantine.
    pub quarantine: Quarantine,
}
