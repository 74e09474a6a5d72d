use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The shortest time between two log lines of the same kind.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Keeps log lines that a client can cause from flooding the log.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<ThrottleState>);

#[derive(Debug, Default)]
struct ThrottleState {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogThrottle {
    /// Returns how many lines were suppressed since the last one if a line may be written now, else
    /// `None`.
    #[must_use]
    pub fn allow(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock();
        if state
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < MIN_INTERVAL)
        {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_and_the_number_suppressed() {
        let throttle = LogThrottle::default();
        let begin = Instant::now();
        let allowed = [0, 1, 999, 1_000, 1_500, 5_000]
            .map(|ms| throttle.allow(begin + Duration::from_millis(ms)));
        assert_eq!(allowed, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
