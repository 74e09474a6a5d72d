use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Counts of late, to tell how fast something grows.
#[derive(Debug, Default)]
pub(crate) struct Rates(VecDeque<(Instant, u64)>);

/// As far back as a rate looks.
const SPAN: Duration = Duration::from_secs(15);
/// Counts closer together than this are one.
const STEP: Duration = Duration::from_millis(100);

impl Rates {
    /// Takes a count in; how much it has grown a second, of late.
    pub(crate) fn rate(&mut self, now: Instant, count: u64) -> f64 {
        while self.0.len() > 1
            && self
                .0
                .front()
                .is_some_and(|(at, _)| now.duration_since(*at) > SPAN)
        {
            self.0.pop_front();
        }
        if self
            .0
            .back()
            .is_none_or(|(at, _)| now.duration_since(*at) >= STEP)
        {
            self.0.push_back((now, count));
        }
        let (at, before) = self.0.front().copied().unwrap_or((now, count));
        let seconds = now.duration_since(at).as_secs_f64();
        if seconds > 0.0 {
            count.saturating_sub(before) as f64 / seconds
        } else {
            0.0
        }
    }
}

/// A rate that was so `ago`, and since then nothing has come: no more than one in this time.
pub(crate) fn fading(rate: f64, ago: Duration) -> f64 {
    if ago <= SPAN {
        rate
    } else {
        rate.min(1.0 / ago.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_covers_a_recent_window() {
        let begun = Instant::now();
        let mut rates = Rates::default();
        assert!(rates.rate(begun, 5).abs() < 1e-9);
        assert!((rates.rate(begun + Duration::from_secs(2), 25) - 10.0).abs() < 1e-9);
        assert!(rates.rate(begun + Duration::from_secs(60), 25).abs() < 1e-9);
    }

    #[test]
    fn rate_decays_without_events() {
        for (rate, ago, left) in [
            (379.2, 0, 379.2),
            (379.2, 15, 379.2),
            (379.2, 20, 0.05),
            (0.01, 20, 0.01),
        ] {
            let faded = fading(rate, Duration::from_secs(ago));
            assert!((faded - left).abs() < 1e-9, "{rate} after {ago} s: {faded}");
        }
    }
}
