use kagetsu_compiled::Day;

/// Returns days since 1970-01-01 as `2026-11-21`; empty beyond the calendar.
#[must_use]
pub fn date(day: u32) -> String {
    Day(day).to_string()
}
