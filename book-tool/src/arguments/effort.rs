use std::time::Duration;

use clap::Args;
use kagetsu_game::Effort;

/// How hard to think about one position.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct EffortArgs {
    /// Plies to search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(Effort::MAX_DEPTH)))]
    pub depth: Option<u8>,
    /// Positions to visit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
}

impl EffortArgs {
    /// The limits as they were given.
    #[must_use]
    pub(crate) fn effort(self) -> Effort {
        Effort {
            depth: self.depth,
            nodes: self.nodes,
            time: None,
        }
    }
}

/// Reads `10s`, `2m 30s`, `500ms`.
///
/// # Errors
/// Text that is no time, or no time at all.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write it as in 10s, 2m or 500ms"))?;
    if time.is_zero() {
        Err("no time at all; write it as in 10s, 2m or 500ms".into())
    } else {
        Ok(time)
    }
}
