use time::macros::format_description;
use time::{Date, Duration};

/// Returns days since 1970-01-01 as `2026-11-21`; empty beyond the calendar.
#[must_use]
pub fn date(day: u32) -> String {
    let first = Date::from_ordinal_date(1970, 1).expect("a date");
    let date = first.checked_add(Duration::days(i64::from(day)));
    date.and_then(|date| {
        date.format(format_description!("[year]-[month]-[day]"))
            .ok()
    })
    .unwrap_or_default()
}

/// Parses `2026-11-21` into days since 1970-01-01.
#[must_use]
pub fn day(text: &str) -> Option<u32> {
    let date = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
    let first = Date::from_ordinal_date(1970, 1).expect("a date");
    u32::try_from((date - first).whole_days()).ok()
}
