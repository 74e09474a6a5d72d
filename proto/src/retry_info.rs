//! When to come again: a refusal that will not last says so in its metadata.

use std::time::Duration;

use tonic::Status;

/// As clients of gRPC know it (proposal A6).
const PUSHBACK: &str = "grpc-retry-pushback-ms";
/// The same in seconds, as HTTP knows it.
const RETRY_AFTER: &str = "retry-after";

/// A refusal of what is too much just now.
#[must_use]
pub fn busy(message: impl Into<String>, wait: Duration) -> Status {
    let mut status = Status::resource_exhausted(message);
    let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    status.metadata_mut().insert(PUSHBACK, millis.into());
    status
        .metadata_mut()
        .insert(RETRY_AFTER, millis.div_ceil(1_000).into());
    status
}

/// How long to wait before coming again, if that helps; at most an hour.
#[must_use]
pub fn pushback(status: &Status) -> Option<Duration> {
    const MOST: Duration = Duration::from_secs(3_600);
    let millis: u64 = status
        .metadata()
        .get(PUSHBACK)?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    Some(Duration::from_millis(millis).min(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_when_to_come_again() {
        for millis in [0, 1, 2_500, 3_600_000] {
            let wait = Duration::from_millis(millis);
            assert_eq!(pushback(&busy("too many", wait)), Some(wait));
        }
        assert_eq!(
            pushback(&busy("too many", Duration::MAX)),
            Some(Duration::from_secs(3_600))
        );
        assert_eq!(pushback(&Status::resource_exhausted("too long")), None);
        let mut never = Status::resource_exhausted("too many");
        never.metadata_mut().insert(PUSHBACK, (-1_i64).into());
        assert_eq!(pushback(&never), None, "it does not help");
    }
}
