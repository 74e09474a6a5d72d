use std::fmt;

use serde::{Serialize, Serializer};

/// The speed-up of each of some positions. One position says little: the order of messages changes
/// the path of a selective search, and its time by a factor of two either way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ratios(Vec<f64>);

impl FromIterator<f64> for Ratios {
    fn from_iter<I: IntoIterator<Item = f64>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Ratios {
    /// Returns the geometric mean, or 1 where there are no ratios.
    fn mean(&self) -> f64 {
        let logarithms: f64 = self.0.iter().map(|ratio| ratio.ln()).sum();
        (logarithms / self.0.len().max(1) as f64).exp()
    }

    /// The standard error of the mean, as a factor; none of fewer than two.
    fn error(&self) -> Option<f64> {
        let (count, mean) = (self.0.len() as f64, self.mean().ln());
        let squares: f64 = self.0.iter().map(|ratio| (ratio.ln() - mean).powi(2)).sum();
        (count > 1.0).then(|| (squares / (count - 1.0) / count).sqrt().exp())
    }

    /// The mean divided by its error, and multiplied with it.
    fn ends(&self) -> Option<(f64, f64)> {
        let (mean, error) = (self.mean(), self.error()?);
        Some((mean / error, mean * error))
    }
}

/// `[1.47,[1.39,1.55]]`; null for the ends where there are none.
impl Serialize for Ratios {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.mean(), self.ends()).serialize(to)
    }
}

/// `1.47 (1.39 to 1.55)`.
impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.mean();
        match self.ends() {
            Some((low, high)) => write!(f, "{mean:.2} ({low:.2} to {high:.2})"),
            None => write!(f, "{mean:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_two_and_a_half_cancel_out() {
        let of = |ratios: &[f64]| ratios.iter().copied().collect::<Ratios>();
        for (ratios, text) in [
            (&[][..], "1.00"),
            (&[3.0], "3.00"),
            (&[2.0, 0.5], "1.00 (0.50 to 2.00)"),
            (&[2.0; 9], "2.00 (2.00 to 2.00)"),
        ] {
            assert_eq!(of(ratios).to_string(), text);
        }
        // Four times as many of the same are about twice as sure.
        let error = |count| of(&[1.0, 2.0].repeat(count)).error().expect("of many").ln();
        assert!(
            (1.9..2.1).contains(&(error(8) / error(32))),
            "{} {}",
            error(8),
            error(32)
        );
    }
}
