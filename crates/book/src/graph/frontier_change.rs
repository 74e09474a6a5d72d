use crate::base::id::Id;

/// A position enters the frontier of a job, leaves it, or changes its priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontierChange {
    pub(crate) job: u32,
    pub(crate) id: Id,
    pub(crate) before: Option<u64>,
    pub(crate) now: Option<u64>,
}
