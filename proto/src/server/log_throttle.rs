use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the same thing is said.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps what others can make us say from flooding the log.
#[derive(Debug, Default)]
pub struct Seldom(Mutex<Said>);

#[derive(Debug, Default)]
struct Said {
    last: Option<Instant>,
    /// Times it was not said since.
    others: u64,
}

impl Seldom {
    /// Whether it may be said now; then how many times it was not, since it was said last.
    #[must_use]
    pub fn turn(&self, now: Instant) -> Option<u64> {
        // Two numbers that are whole between calls.
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < EVERY)
        {
            said.others += 1;
            return None;
        }
        said.last = Some(now);
        Some(std::mem::take(&mut said.others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_a_second_and_how_often_it_was_left_out() {
        let (seldom, begin) = (Seldom::default(), Instant::now());
        let turns = [0, 1, 999, 1_000, 1_500, 5_000]
            .map(|ms| seldom.turn(begin + Duration::from_millis(ms)));
        assert_eq!(turns, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
