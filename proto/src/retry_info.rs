//! The time after which a refused request should be retried, in the metadata of its status.

use std::time::Duration;

use tonic::Status;

/// The key that gRPC clients know (proposal A6), in milliseconds.
const PUSHBACK: &str = "grpc-retry-pushback-ms";
/// The key that HTTP clients know, in seconds.
const RETRY_AFTER: &str = "retry-after";
/// The longest wait that a client obeys.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3_600);

/// Returns `INVALID_ARGUMENT` with an error as its message.
pub fn invalid(error: impl ToString) -> Status {
    Status::invalid_argument(error.to_string())
}

/// Returns `RESOURCE_EXHAUSTED` with the time after which to retry.
#[must_use]
pub fn exhausted(message: impl Into<String>, retry_after: Duration) -> Status {
    let mut status = Status::resource_exhausted(message);
    let millis = u64::try_from(retry_after.as_millis()).unwrap_or(u64::MAX);
    let metadata = status.metadata_mut();
    metadata.insert(PUSHBACK, millis.into());
    metadata.insert(RETRY_AFTER, millis.div_ceil(1_000).into());
    status
}

/// Returns how long to wait before a retry, if the status says so; at most an hour.
#[must_use]
pub fn retry_after(status: &Status) -> Option<Duration> {
    let millis = status.metadata().get(PUSHBACK)?.to_str().ok()?;
    let wait = Duration::from_millis(millis.parse().ok()?);
    Some(wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_when_to_retry() {
        for millis in [0, 1, 2_500, 3_600_000] {
            let wait = Duration::from_millis(millis);
            assert_eq!(retry_after(&exhausted("too many", wait)), Some(wait));
        }
        let endless = exhausted("too many", Duration::MAX);
        assert_eq!(retry_after(&endless), Some(MAX_RETRY_AFTER));
        assert_eq!(retry_after(&Status::resource_exhausted("too long")), None);
        let mut never = Status::resource_exhausted("too many");
        never.metadata_mut().insert(PUSHBACK, (-1_i64).into());
        assert_eq!(
            retry_after(&never),
            None,
            "a negative value forbids a retry"
        );
    }
}
