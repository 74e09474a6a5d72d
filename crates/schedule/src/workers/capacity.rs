use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use kagetsu_game::Variant;

/// What a worker can take. A number of slots alone stands for a worker that plays everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Tasks at the same time.
    pub slots: u32,
    /// The variants that it can be asked about; `None`: all.
    pub plays: Option<Arc<BTreeSet<Variant>>>,
}

impl Capacity {
    /// Whether it can be asked about the variant.
    #[must_use]
    pub fn has(&self, variant: Variant) -> bool {
        self.plays
            .as_ref()
            .is_none_or(|plays| plays.contains(&variant))
    }
}

impl From<u32> for Capacity {
    fn from(slots: u32) -> Self {
        Self { slots, plays: None }
    }
}
