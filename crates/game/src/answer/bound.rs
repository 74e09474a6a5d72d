/// The relation of a score to the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// The true value is at most the score.
    Upper,
    /// The true value is at least the score.
    Lower,
    /// The score is the value at the searched depth.
    Exact,
}

crate::names!(Bound { Upper = "upper", Lower = "lower", Exact = "exact" });

impl Bound {
    /// Returns the same knowledge from the other side's view.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            Self::Exact => Self::Exact,
        }
    }
}
