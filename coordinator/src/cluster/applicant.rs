use std::collections::BTreeSet;

use kagetsu_game::{Question, Variant};
use kagetsu_schedule::TaskId;

/// Tasks that a worker has at hand when it connects.
#[derive(Debug, Default)]
pub(crate) struct HeldTasks {
    /// Tasks of this coordinator process, with their attempts.
    pub(crate) current: Vec<(TaskId, u32)>,
    /// Tasks of earlier processes, with their questions.
    pub(crate) earlier: Vec<(TaskId, Option<Question>)>,
}

/// A connected worker that does not exist for the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Applicant {
    /// Calibration questions that it has yet to answer.
    pub(super) open: BTreeSet<TaskId>,
    /// Variants in which it could not answer.
    pub(super) unable: BTreeSet<Variant>,
    /// Whether one of its answers was another than that of our own engine.
    pub(super) differs: bool,
    pub(super) held: HeldTasks,
}
