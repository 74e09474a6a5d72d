//! The result of one check.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// Nothing is wrong.
    Ok,
    /// It works, but not well, or not for long.
    Warning,
    /// It does not work, or is not safe.
    Fault,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(super) struct HealthFinding {
    pub(super) level: Level,
    /// The thing that was checked, as in `clock` or `certs/client.key`.
    pub(super) subject: String,
    /// The state of the thing.
    pub(super) found: String,
    /// The way out; none where nothing is wrong.
    pub(super) advice: Option<String>,
}

impl HealthFinding {
    pub(super) fn ok(subject: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            level: Level::Ok,
            subject: subject.into(),
            found: found.into(),
            advice: None,
        }
    }

    pub(super) fn warning(
        subject: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Warning,
            advice: Some(advice.into()),
            ..Self::ok(subject, found)
        }
    }

    pub(super) fn fault(
        subject: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Fault,
            advice: Some(advice.into()),
            ..Self::ok(subject, found)
        }
    }
}

/// Writes bytes in the largest binary unit that leaves a number of at least 1.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}
