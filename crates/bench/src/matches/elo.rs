use std::fmt;

/// Counts of pairs by the points of the first engine, 0 to 4 halves. The two games of a pair have
/// one opening and change colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pairs: [u32; 5],
}

/// A difference of strength with its 95 % interval, in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Elo {
    pub(crate) difference: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Tally {
    /// Takes in a pair worth so many half points, 0 to 4.
    pub(crate) fn add(&mut self, halves: u8) {
        self.pairs[usize::from(halves)] += 1;
    }

    pub(crate) fn pairs(&self) -> u32 {
        self.pairs.iter().sum()
    }

    /// Share of all points, 0 to 1; a half where there are no games.
    pub(crate) fn score(&self) -> f64 {
        let halves: u32 = self
            .pairs
            .iter()
            .zip(0..)
            .map(|(count, halves)| count * halves)
            .sum();
        if self.pairs() == 0 {
            0.5
        } else {
            f64::from(halves) / f64::from(4 * self.pairs())
        }
    }

    /// Returns the variance of a pair's share of the points, 0 for fewer than two pairs.
    pub(crate) fn variance(&self) -> f64 {
        let (score, pairs) = (self.score(), f64::from(self.pairs()));
        let square =
            |(count, halves): (&u32, f64)| f64::from(*count) * (halves / 4.0 - score).powi(2);
        let squares: f64 = self
            .pairs
            .iter()
            .zip([0.0, 1.0, 2.0, 3.0, 4.0])
            .map(square)
            .sum();
        if pairs > 1.0 {
            squares / (pairs - 1.0)
        } else {
            0.0
        }
    }

    /// Returns half of the 95 % interval of the score, 1 for fewer than two pairs.
    pub(crate) fn score_error(&self) -> f64 {
        match f64::from(self.pairs()) {
            pairs if pairs > 1.0 => 1.96 * (self.variance() / pairs).sqrt(),
            _ => 1.0,
        }
    }

    /// Elo difference by the logistic curve. The error is pentanomial: it comes from the spread of
    /// the pairs' points, so that an opening which decides both of its games counts as no evidence.
    pub(crate) fn elo(&self) -> Elo {
        let (score, error) = (self.score(), self.score_error());
        Elo {
            difference: of_score(score),
            low: of_score(score - error),
            high: of_score(score + error),
        }
    }
}

/// Returns the share of the points that is expected at this difference.
pub(crate) fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The difference at which this share of the points is expected; infinite at 0 and 1.
fn of_score(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    // No difference is +0, not -0.
    0.0 - 400.0 * (1.0 / score - 1.0).log10()
}

/// `0 3 12 8 1`: pairs of no point, half a point, one, one and a half, two.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pairs.map(|count| count.to_string()).join(" "))
    }
}

/// `+12.3 (from -4.0 to +28.6)`.
impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:+.1} (from {:+.1} to {:+.1})",
            self.difference, self.low, self.high
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(pairs: [u32; 5]) -> Tally {
        Tally { pairs }
    }

    #[test]
    fn elo_is_that_of_the_logistic_curve() {
        // 3 of 4 points are worth 400 * log10(3).
        let elo = tally([0, 0, 50, 0, 50]).elo();
        assert!((elo.difference - 190.848_501_9).abs() < 1e-6);
        // Each pair is worth 1/2 or 1: the deviation is 1/4, and the mean of 100 pairs divides the
        // variance by 99.
        let error = 1.96 * (100.0 * 0.0625 / 99.0 / 100.0_f64).sqrt();
        assert!((elo.low - of_score(0.75 - error)).abs() < 1e-9);
        assert!((elo.high - of_score(0.75 + error)).abs() < 1e-9);
        assert_eq!(tally([0, 0, 0, 0, 3]).elo().difference, f64::INFINITY);
        assert_eq!(Tally::default().elo().difference, 0.0);
        assert_eq!(
            tally([0, 0, 1, 0, 0]).elo().low,
            f64::NEG_INFINITY,
            "one pair tells nothing"
        );
    }

    #[test]
    fn changing_sides_changes_the_sign() {
        for pairs in [[1, 2, 3, 4, 5], [0, 7, 30, 2, 1], [20, 0, 0, 0, 10]] {
            let mut turned = pairs;
            turned.reverse();
            let (a, b) = (tally(pairs).elo(), tally(turned).elo());
            assert!((a.difference + b.difference).abs() < 1e-9 && (a.low + b.high).abs() < 1e-9);
            assert!(a.low <= a.difference && a.difference <= a.high);
        }
    }

    #[test]
    fn an_opening_that_decides_its_games_widens_nothing() {
        // Each of 40 pairs gives one point, so the error is 0. Counted by games it would be 78 Elo.
        let elo = tally([0, 0, 40, 0, 0]).elo();
        assert_eq!((elo.low, elo.high), (0.0, 0.0));
    }
}
