use alloc::format;
use alloc::string::String;

use kagetsu_game::{Answer, Bound, Move, Position, Verdict};

/// Value of an unproven win, in centi-units: a winning opinion, and visibly none of a proof.
pub(crate) const UNPROVEN_WIN: i32 = 10_000;

/// The difference between two values of one move that honest workers may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// One engine, one thread, an effort in depth or nodes: only the sizes of tables may differ.
    SameSearch,
    /// Several threads or an effort in time: the same engine comes to different trees.
    SameEngine,
    /// Different engines, whose values have different scales.
    OtherEngine,
}

impl Tolerance {
    /// Returns the tolerance of equal searches at an effort, in time or not.
    pub(crate) const fn strict(is_timed: bool) -> Self {
        if is_timed {
            Self::SameEngine
        } else {
            Self::SameSearch
        }
    }

    /// Returns the largest difference in centi-units for depths that differ by `plies`.
    const fn centi_units(self, plies: u8) -> i32 {
        // About 1.5 times the largest difference measured (docs/measurements, tolerances); that of
        // other engines is twice that of one engine.
        let (base, per_ply) = match self {
            Self::SameSearch => (50, 0),
            Self::SameEngine => (400, 150),
            Self::OtherEngine => (800, 150),
        };
        base + per_ply * plies as i32
    }
}

/// The relation of two answers to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerRelation {
    /// They say the same: each confirms the other.
    Equal,
    /// They differ by no more than honest searches of such engines may.
    Near,
    /// No two honest searches of such engines say both.
    Apart(String),
    /// One calls a move won or lost, without evidence, and the other does not. No tolerance covers
    /// it, and a stronger search may be right about it.
    Decided {
        /// Whether the first of the two does.
        by_first: bool,
        /// The difference, for people.
        reason: String,
    },
}

impl AnswerRelation {
    /// Whether at least one of the two must be wrong.
    #[must_use]
    pub const fn is_contradiction(&self) -> bool {
        matches!(self, Self::Apart(_) | Self::Decided { .. })
    }
}

/// Compares two answers to one question at the same effort. `tolerance` is that of the workers;
/// answers are equal only within the tolerance `strict`, which depends on the question alone.
/// Moves for which `is_evident` holds are proven, so that values say nothing about them.
#[must_use]
pub fn compare(
    position: &Position,
    (strict, tolerance): (Tolerance, Tolerance),
    one: &Answer,
    other: &Answer,
    is_evident: impl Fn(Move) -> bool,
) -> AnswerRelation {
    let (Some((one_move, one_best)), Some((other_move, other_best))) = (one.best(), other.best())
    else {
        return AnswerRelation::Equal;
    };
    let (mut is_equal, mut apart) = (true, None);
    let shared = one
        .verdicts()
        .iter()
        .filter_map(|(m, a)| Some((*m, a, *m, other.get(*m)?)));
    let best = (one_move, one_best, other_move, other_best);
    for (m, a, n, b) in shared.chain([best]) {
        let text = || {
            let (first, second) = (position.write_move(m), position.write_move(n));
            format!("{first} with {}, and {second} with {}", a.score, b.score)
        };
        let differs = is_apart(strict, a, b);
        is_equal &= !differs;
        if is_evident(m) || is_evident(n) {
            continue;
        }
        if differs && (is_decided(a) || is_decided(b)) {
            return AnswerRelation::Decided {
                by_first: is_decided(a),
                reason: text(),
            };
        }
        if apart.is_none() && is_apart(tolerance, a, b) {
            apart = Some(text());
        }
    }
    match apart {
        Some(reason) => AnswerRelation::Apart(reason),
        None if is_equal => AnswerRelation::Equal,
        None => AnswerRelation::Near,
    }
}

/// Whether a verdict calls its move won or lost.
pub(crate) fn is_decided(verdict: &Verdict) -> bool {
    verdict.proof.is_some() || i32::from(verdict.score.raw()).abs() >= UNPROVEN_WIN
}

/// Whether no value fits both verdicts. All that is won or lost has one value each.
fn is_apart(tolerance: Tolerance, a: &Verdict, b: &Verdict) -> bool {
    let width = tolerance.centi_units(a.depth.abs_diff(b.depth));
    let value = |v: &Verdict| i32::from(v.score.raw()).clamp(-UNPROVEN_WIN, UNPROVEN_WIN);
    let above = value(a) - value(b);
    let may_be_less = |v: &Verdict| v.bound == Bound::Upper;
    let may_be_more = |v: &Verdict| v.bound == Bound::Lower;
    (above > width && !may_be_less(a) && !may_be_more(b))
        || (-above > width && !may_be_less(b) && !may_be_more(a))
}
