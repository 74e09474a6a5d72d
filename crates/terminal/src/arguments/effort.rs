//! Limits on a search, as arguments.

use std::time::Duration;

use clap::Args;
use kagetsu_game::Effort;

/// Limits on the search of one position.
#[derive(Args, Clone, Copy, Debug)]
pub struct EffortArgs {
    /// Maximum search depth, in plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(Effort::MAX_DEPTH)))]
    pub depth: Option<u8>,
    /// Maximum number of positions to visit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
}

impl EffortArgs {
    /// Returns the limits with one of time, by default `usual` where no other is given.
    #[must_use]
    pub fn within(self, time: Option<Duration>, usual: Duration) -> Effort {
        let effort = Effort {
            time,
            ..self.effort()
        };
        if effort == Effort::default() {
            Effort::time(usual)
        } else {
            effort
        }
    }

    /// Returns the limits, without a time.
    #[must_use]
    pub fn effort(self) -> Effort {
        Effort {
            depth: self.depth,
            nodes: self.nodes,
            time: None,
        }
    }
}

/// Reads a duration such as `10s`, `2m 30s` or `500ms`.
///
/// # Errors
/// If the text is no duration, or the duration is zero.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write it as in 10s, 2m or 500ms"))?;
    if time.is_zero() {
        Err("no time at all; write it as in 10s, 2m or 500ms".into())
    } else {
        Ok(time)
    }
}
