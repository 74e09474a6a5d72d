use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::{Bound, Move, Symmetry, Variant, Verdict};

/// Verdicts on the moves asked about, best first; each move stands once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer(Vec<(Move, Verdict)>);

impl Answer {
    /// Returns an empty answer, the neutral element of [`Answer::merge`].
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the verdicts, best first.
    #[must_use]
    pub fn verdicts(&self) -> &[(Move, Verdict)] {
        &self.0
    }

    /// Number of moves with a verdict.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the best move with its verdict.
    #[must_use]
    pub fn best(&self) -> Option<(Move, &Verdict)> {
        self.0.first().map(|(m, v)| (*m, v))
    }

    /// Returns the verdict on one move.
    #[must_use]
    pub fn get(&self, m: Move) -> Option<&Verdict> {
        self.0.iter().find(|(at, _)| *at == m).map(|(_, v)| v)
    }

    /// Returns the positions visited for all verdicts; saturates at `u64::MAX`.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, (_, v)| sum.saturating_add(v.nodes))
    }

    /// Merges another answer: every move keeps the stronger verdict (see [`Verdict`]'s order).
    ///
    /// Idempotent, commutative and associative; no proof is lost.
    pub fn merge(&mut self, other: Self) {
        self.extend(other.0);
    }

    /// Returns the answer with each of its verdicts changed.
    #[must_use]
    pub fn changed(&self, mut change: impl FnMut(Move, &mut Verdict)) -> Self {
        let mut changed = self.clone();
        changed.0.iter_mut().for_each(|(m, v)| change(*m, v));
        changed.0.into_iter().collect()
    }

    /// Returns the answer without the lines that do not begin with their move.
    #[must_use]
    pub fn with_own_lines(mut self) -> Self {
        for (m, verdict) in &mut self.0 {
            if verdict.line.first() != Some(m) {
                verdict.line.clear();
            }
        }
        self
    }

    /// Keeps the verdicts for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Move, &Verdict) -> bool) {
        self.0.retain(|(m, v)| keep(*m, v));
    }

    /// Keeps the `most` best moves. Lower bounds and exact values come before upper bounds.
    pub fn keep_best(&mut self, most: usize) {
        let known = self
            .0
            .iter()
            .filter(|(_, v)| v.bound != Bound::Upper)
            .count()
            .min(most);
        let (mut known, mut others) = (known, most - known);
        self.0.retain(|(_, v)| {
            let left = if v.bound == Bound::Upper {
                &mut others
            } else {
                &mut known
            };
            let is_kept = *left > 0;
            *left = left.saturating_sub(1);
            is_kept
        });
    }

    /// Returns the answer for the image of the position under `symmetry`.
    #[must_use]
    pub fn turned(self, variant: Variant, symmetry: Symmetry) -> Self {
        let image =
            |(m, v): (Move, Verdict)| (variant.image(m, symmetry), v.turned(variant, symmetry));
        let mut verdicts: Vec<_> = self.0.into_iter().map(image).collect();
        // Equal verdicts are ordered by move.
        verdicts.sort_by(best_first);
        Self(verdicts)
    }
}

/// Adds verdicts one by one; the stronger one of a move stays.
impl Extend<(Move, Verdict)> for Answer {
    fn extend<I: IntoIterator<Item = (Move, Verdict)>>(&mut self, verdicts: I) {
        self.0.extend(verdicts);
        self.0
            .sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.cmp(x)));
        self.0.dedup_by_key(|(m, _)| *m);
        self.0.sort_by(best_first);
    }
}

impl FromIterator<(Move, Verdict)> for Answer {
    fn from_iter<I: IntoIterator<Item = (Move, Verdict)>>(verdicts: I) -> Self {
        let mut answer = Self::new();
        answer.extend(verdicts);
        answer
    }
}

/// Orders the better move first: by score, then lower bounds and exact values before upper bounds.
fn best_first((a, x): &(Move, Verdict), (b, y): &(Move, Verdict)) -> Ordering {
    let certainty = |v: &Verdict| match v.bound {
        _ if v.proof.is_some() => 3,
        Bound::Exact => 2,
        Bound::Lower => 1,
        Bound::Upper => 0,
    };
    y.score
        .cmp(&x.score)
        .then_with(|| certainty(y).cmp(&certainty(x)))
        .then_with(|| a.cmp(b))
}
