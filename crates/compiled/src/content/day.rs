use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::macros::{date, format_description};
use time::{Date, Duration};

/// A day of the calendar, as days since 1970-01-01; written as `2026-11-21`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

/// A text is not a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a day; write it as in 2026-11-21")]
pub struct DayError(String);

const EPOCH: Date = date!(1970 - 01 - 01);

impl Day {
    /// Returns the present day.
    #[must_use]
    pub fn today() -> Self {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        Self(since.map_or(0, |since| (since.as_secs() / 86_400) as u32))
    }
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let no_day = || DayError(text.to_string());
        let date = Date::parse(text, format_description!("[year]-[month]-[day]"));
        let days = (date.map_err(|_| no_day())? - EPOCH).whole_days();
        u32::try_from(days).map(Self).map_err(|_| no_day())
    }
}

impl fmt::Display for Day {
    /// Writes nothing for a day that the calendar does not have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EPOCH.checked_add(Duration::days(i64::from(self.0))) {
            Some(date) => write!(f, "{date}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}
