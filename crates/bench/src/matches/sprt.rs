use std::fmt;
use std::str::FromStr;

use super::elo::{Tally, expected_score};

/// Log-likelihood ratio at which a hypothesis is accepted with an error of 5 %: ln(0.95 / 0.05).
const DECISION: f64 = 2.944_438_979;

/// Fewest pairs before a decision, since the variance of fewer is uncertain.
const MIN_PAIRS: u32 = 8;

/// A sequential probability ratio test between two differences in Elo (Wald, 1945), with the normal
/// approximation over pairs of games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sprt {
    low: f64,
    high: f64,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SprtResult {
    /// The smaller difference is accepted.
    Low,
    /// The greater difference is accepted.
    High,
    Open,
}

impl Sprt {
    /// Returns the log-likelihood ratio of the greater over the smaller difference.
    pub(crate) fn ratio(self, tally: &Tally) -> f64 {
        let pairs = f64::from(tally.pairs());
        let variance = tally.variance();
        if pairs == 0.0 || variance <= 0.0 {
            return 0.0;
        }
        let (low, high) = (expected_score(self.low), expected_score(self.high));
        pairs * (high - low) * (2.0 * tally.score() - low - high) / (2.0 * variance)
    }

    pub(crate) fn result(self, tally: &Tally) -> SprtResult {
        match self.ratio(tally) {
            _ if tally.pairs() < MIN_PAIRS => SprtResult::Open,
            ratio if ratio >= DECISION => SprtResult::High,
            ratio if ratio <= -DECISION => SprtResult::Low,
            _ => SprtResult::Open,
        }
    }

    /// Returns the state of the test as a sentence.
    pub(crate) fn report(self, tally: &Tally) -> String {
        let ratio = self.ratio(tally);
        let state = match self.result(tally) {
            SprtResult::Low => format!("accepts {:+} Elo", self.low),
            SprtResult::High => format!("accepts {:+} Elo", self.high),
            SprtResult::Open => "is undecided".to_string(),
        };
        format!("The test of {self} Elo {state}: log-likelihood ratio {ratio:+.2} of +-2.94.")
    }
}

impl FromStr for Sprt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once(',')
            .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
        match numbers {
            Some((low, high)) if f64::is_finite(low) && f64::is_finite(high) && low < high => {
                Ok(Self { low, high })
            }
            _ => Err(format!(
                "'{text}' is not two differences in Elo, the smaller first, as in 0,20"
            )),
        }
    }
}

/// `0,20`.
impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(points: [u32; 5]) -> Tally {
        let mut tally = Tally::default();
        for (halves, count) in points.into_iter().enumerate() {
            (0..count).for_each(|_| tally.add(halves as u8));
        }
        tally
    }

    #[test]
    fn sprt_accepts_the_nearer_difference() {
        let sprt: Sprt = "0,50".parse().expect("two numbers");
        assert_eq!(sprt.result(&tally([5, 10, 40, 60, 85])), SprtResult::High);
        assert_eq!(sprt.result(&tally([85, 60, 40, 10, 5])), SprtResult::Low);
        assert_eq!(sprt.result(&tally([1, 2, 4, 2, 1])), SprtResult::Open);
        assert_eq!(sprt.result(&tally([0, 0, 0, 1, 3])), SprtResult::Open);
        assert_eq!(sprt.ratio(&Tally::default()), 0.0);
    }

    #[test]
    fn sprt_ratio_follows_the_normal_approximation() {
        // A mean of 0.75 with a variance of 1/16 * 100/99, between scores 0.5 and 0.640065.
        let sprt: Sprt = "0,100".parse().expect("two numbers");
        let (low, high) = (0.5, expected_score(100.0));
        let expected = 100.0 * (high - low) * (1.5 - low - high) / (2.0 * 0.0625 * 100.0 / 99.0);
        assert!((sprt.ratio(&tally([0, 0, 50, 0, 50])) - expected).abs() < 1e-9);
    }

    #[test]
    fn sprt_needs_two_ascending_numbers() {
        for text in ["", "5", "5,5", "9,1", "a,b", "0,inf", "0,1,2"] {
            assert!(text.parse::<Sprt>().is_err(), "{text}");
        }
    }
}
