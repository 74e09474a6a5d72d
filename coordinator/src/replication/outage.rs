use std::time::{Duration, Instant};

use kagetsu_book::JournalError;

/// Time between two log lines about the same outage.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Reports an outage of the database: when it begins, once a minute, and when it ends.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    reported: Option<Instant>,
}

impl Outage {
    /// Takes the result of a request.
    pub(crate) fn observe<T>(&mut self, result: Result<T, JournalError>) {
        match result {
            Ok(_) => {
                if self.reported.take().is_some() {
                    tracing::info!("the database answers again");
                }
            }
            Err(error) => {
                let is_due = self
                    .reported
                    .is_none_or(|reported| reported.elapsed() >= REPORT_INTERVAL);
                if is_due {
                    self.reported = Some(Instant::now());
                    tracing::error!("{error}; trying again");
                }
            }
        }
    }
}
