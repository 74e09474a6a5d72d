use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use kagetsu_game::Variant;

/// The tasks that a worker can take. A plain number of slots means a trusted worker that plays
/// every variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Maximum number of tasks at a time.
    pub slots: u32,
    /// The variants that it plays; `None`: all.
    pub plays: Option<Arc<BTreeSet<Variant>>>,
    /// Whether it may answer [checks](crate::Scheduler::submit_check), and its failures count
    /// against a question.
    pub is_trusted: bool,
}

impl Capacity {
    /// Whether it plays the variant.
    #[must_use]
    pub fn has(&self, variant: Variant) -> bool {
        self.plays
            .as_ref()
            .is_none_or(|plays| plays.contains(&variant))
    }
}

impl From<u32> for Capacity {
    fn from(slots: u32) -> Self {
        Self {
            slots,
            plays: None,
            is_trusted: true,
        }
    }
}
