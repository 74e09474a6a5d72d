use super::growth_policy::{Candidate, GrowthPolicy, PolicyScope};

/// A repertoire: drop-out expansion that follows only the best move of one side, and every move of
/// the other side that loses no more than `margin`.
pub(super) struct OneSide;

impl GrowthPolicy for OneSide {
    fn name(&self) -> &'static str {
        "one-side"
    }

    fn label(&self) -> &'static str {
        "A repertoire for one side"
    }

    fn help(&self) -> &'static str {
        "As drop-out, but follows only the best move of one side and all moves of the other within \
         the margin: a repertoire"
    }

    fn defaults(&self) -> &'static [(&'static str, u32)] {
        &[("depth", 6), ("margin", 100)]
    }

    fn ignores(&self) -> &'static [&'static str] {
        &[]
    }

    fn follows(&self, scope: &PolicyScope, candidate: &Candidate) -> bool {
        if candidate.by == scope.side {
            candidate.is_best
        } else {
            candidate.is_within_margin
        }
    }
}
