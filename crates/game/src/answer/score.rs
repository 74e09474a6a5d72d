use core::fmt;
use core::ops::Neg;

/// A value in centi-units from the view of the side to move, in 16 bits.
///
/// An opinion lies within ±[`Score::OPINION_MAX`], a forced win in `n` plies is `32000 - n`, and a
/// forced loss is the negative of that. Values in between do not occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i16);

const WIN: i16 = 32_000;

impl Score {
    /// Equal chances, or a draw.
    pub const ZERO: Self = Self(0);
    /// The greatest opinion; every higher score is a forced win.
    pub const OPINION_MAX: Self = Self(30_000);
    /// Maximum length of a forced win or loss, in plies.
    pub const MAX_PLIES: u16 = 1_999;
    /// Above every value: the upper end of the full window.
    pub const MAX: Self = Self(WIN + 1);
    /// Below every value: the lower end of the full window.
    pub const MIN: Self = Self(-WIN - 1);

    /// Returns an opinion, clamped to ±[`Score::OPINION_MAX`].
    #[must_use]
    pub fn opinion(centi: i32) -> Self {
        let max = i32::from(Self::OPINION_MAX.0);
        Self(centi.clamp(-max, max) as i16)
    }

    /// Returns a win with the `plies`-th ply from here (odd: the side's own move); 0 is a won game.
    ///
    /// Saturates at [`Score::MAX_PLIES`].
    #[must_use]
    pub fn win_in(plies: u16) -> Self {
        Self(WIN - plies.min(Self::MAX_PLIES) as i16)
    }

    /// Returns a loss with the `plies`-th ply from here; 0 is a lost game.
    #[must_use]
    pub fn loss_in(plies: u16) -> Self {
        -Self::win_in(plies)
    }

    /// Returns the score with this raw value; `None` if no score has it.
    #[must_use]
    pub const fn from_raw(raw: i16) -> Option<Self> {
        if raw > WIN + 1 || raw < -WIN - 1 {
            None
        } else {
            Some(Self(raw))
        }
    }

    /// Returns the raw value, as stored and sent.
    #[must_use]
    pub const fn raw(self) -> i16 {
        self.0
    }

    /// Returns the plies to a forced win of the side to move.
    #[must_use]
    pub const fn win_plies(self) -> Option<u16> {
        if self.0 > Self::OPINION_MAX.0 && self.0 <= WIN {
            Some((WIN - self.0) as u16)
        } else {
            None
        }
    }

    /// Returns the plies to a forced loss of the side to move.
    #[must_use]
    pub const fn loss_plies(self) -> Option<u16> {
        Self(-self.0).win_plies()
    }

    /// Whether it is a forced win or loss.
    #[must_use]
    pub const fn is_mate(self) -> bool {
        self.win_plies().is_some() || self.loss_plies().is_some()
    }

    /// Returns the value for the side that moves into a position with this value: negated, and a
    /// forced win or loss one ply farther.
    #[must_use]
    pub fn before(self) -> Self {
        let negated = -self;
        match (negated.win_plies(), negated.loss_plies()) {
            (Some(n), _) => Self::win_in(n + 1),
            (_, Some(n)) => Self::loss_in(n + 1),
            _ => negated,
        }
    }

    /// Returns the inverse of [`Score::before`], for window ends: a forced win or loss one ply
    /// nearer.
    #[must_use]
    pub fn after(self) -> Self {
        match (self.win_plies(), self.loss_plies()) {
            (Some(n), _) => -Self::win_in(n.saturating_sub(1)),
            (_, Some(n)) => -Self::loss_in(n.saturating_sub(1)),
            _ => -self,
        }
    }
}

impl Neg for Score {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

/// `+0.34`, `win in 7`, `loss in 8`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.win_plies(), self.loss_plies()) {
            (Some(n), _) => write!(f, "win in {n}"),
            (_, Some(n)) => write!(f, "loss in {n}"),
            _ => {
                let sign = if self.0 < 0 { '-' } else { '+' };
                let value = self.0.unsigned_abs();
                write!(f, "{sign}{}.{:02}", value / 100, value % 100)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mate_is_one_ply_longer_from_the_parent() {
        assert_eq!(Score::loss_in(0).before(), Score::win_in(1));
        assert_eq!(Score::win_in(1).before(), Score::loss_in(2));
        assert_eq!(Score::win_in(1).before().after(), Score::win_in(1));
        assert_eq!(Score::opinion(34).before(), Score::opinion(-34));
        assert_eq!(Score::opinion(99_999), Score::OPINION_MAX);
        assert!(!Score::OPINION_MAX.is_mate() && !Score::MAX.is_mate());
        assert!(Score::win_in(Score::MAX_PLIES) > Score::OPINION_MAX);
    }
}
