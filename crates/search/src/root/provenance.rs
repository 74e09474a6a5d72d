use std::sync::Arc;
use std::time::SystemTime;

use kagetsu_game::Provenance;

/// Name and version of this engine.
pub(crate) const NAME: &str = concat!("kagetsu ", env!("CARGO_PKG_VERSION"));

/// Returns the provenance of a verdict that this engine finds today.
#[must_use]
pub fn provenance() -> Provenance {
    let today = SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs() / 86_400);
    Provenance {
        engine: Arc::from(NAME),
        day: today as u32,
    }
}
