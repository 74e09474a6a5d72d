use std::sync::Arc;
use std::time::SystemTime;

use kagetsu_game::Provenance;

/// Name and version of this engine.
pub(crate) const NAME: &str = concat!("kagetsu ", env!("CARGO_PKG_VERSION"));

/// Returns the provenance of a verdict that this engine finds today.
#[must_use]
pub fn provenance() -> Provenance {
    provenance_of(NAME)
}

/// Returns the provenance of a verdict that an engine finds today.
#[must_use]
pub fn provenance_of(engine: &str) -> Provenance {
    // A browser has no clock that Rust knows, and adds the day by itself.
    let is_known = cfg!(not(target_family = "wasm"));
    let since = is_known.then(|| SystemTime::UNIX_EPOCH.elapsed());
    let today = since.map_or(0, |since| since.map_or(0, |time| time.as_secs() / 86_400));
    Provenance {
        engine: Arc::from(engine),
        day: today as u32,
    }
}
