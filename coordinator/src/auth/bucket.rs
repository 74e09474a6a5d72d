use std::time::{Duration, Instant};

/// A limit of so many a second, with some saved up for a burst.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    /// A second.
    rate: f64,
    level: f64,
    filled: Instant,
}

/// Seconds of the rate that can be saved up.
const BURST: f64 = 2.0;

impl Bucket {
    pub(super) fn new(rate: u32, now: Instant) -> Self {
        let rate = f64::from(rate.max(1));
        Self {
            rate,
            level: rate * BURST,
            filled: now,
        }
    }

    /// Takes one out, or says when there will be one.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let since = now.saturating_duration_since(self.filled).as_secs_f64();
        self.level = (self.level + since * self.rate).min(self.rate * BURST);
        self.filled = now.max(self.filled);
        if self.level >= 1.0 {
            self.level -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.level) / self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_the_rate_and_who_waits_as_told_passes() {
        let mut now = Instant::now();
        let mut bucket = Bucket::new(10, now);
        assert_eq!((0..100).filter(|_| bucket.take(now).is_ok()).count(), 20);
        for _ in 0..50 {
            let wait = bucket.take(now).expect_err("empty");
            assert!(wait <= Duration::from_millis(101), "{wait:?}");
            assert!(bucket.take(now + wait / 2).is_err());
            now += wait + Duration::from_nanos(100);
            assert!(bucket.take(now).is_ok());
        }
        now += Duration::from_secs(3_600);
        assert_eq!(
            (0..100).filter(|_| bucket.take(now).is_ok()).count(),
            20,
            "an hour saves up no more"
        );
    }
}
