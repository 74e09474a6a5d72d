use alloc::format;
use alloc::string::String;

use kagetsu_game::{Answer, Bound, Position, Score, Verdict};

use crate::check::UNPROVEN_WIN;

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

/// Returns the contradiction between two answers to one question, if there is one.
///
/// A proof that the other answer lacks is a contradiction only between equal searches.
#[must_use]
pub fn difference(
    position: &Position,
    tolerance: Tolerance,
    one: &Answer,
    other: &Answer,
) -> Option<String> {
    let (one_move, one_best) = one.best()?;
    let (other_move, other_best) = other.best()?;
    for (m, a) in one.verdicts() {
        let Some(b) = other.get(*m) else { continue };
        if let Some(detail) = contradiction(tolerance, a, b) {
            return Some(format!(
                "{}: {} and {}{detail}",
                position.write_move(*m),
                a.score,
                b.score
            ));
        }
    }
    let are_opinions = one_best.proof.is_none() && other_best.proof.is_none();
    (are_opinions && is_apart(tolerance, one_best, other_best)).then(|| {
        format!(
            "the best move is {} with {}, and {} with {}",
            position.write_move(one_move),
            one_best.score,
            position.write_move(other_move),
            other_best.score
        )
    })
}

fn contradiction(tolerance: Tolerance, a: &Verdict, b: &Verdict) -> Option<&'static str> {
    match (a.proof, b.proof) {
        (Some(one), Some(other)) if one.contradicts(other) => Some(", both proven"),
        (Some(_), None) | (None, Some(_))
            if tolerance == Tolerance::SameSearch && a.is_exact() && b.is_exact() =>
        {
            Some(", only one proven")
        }
        (None, None) if is_apart(tolerance, a, b) => Some(""),
        _ => None,
    }
}

/// Whether no value fits both verdicts. Where searches differ, one of them may see an unproven win
/// that the other does not; only a win and a loss exclude each other then.
fn is_apart(tolerance: Tolerance, a: &Verdict, b: &Verdict) -> bool {
    let is_decided = |v: &Verdict| i32::from(v.score.raw()).abs() >= UNPROVEN_WIN;
    if tolerance != Tolerance::SameSearch && (is_decided(a) || is_decided(b)) {
        let are_opposite = (a.score > Score::ZERO) != (b.score > Score::ZERO);
        return is_decided(a) && is_decided(b) && are_opposite;
    }
    let width = tolerance.centi_units(a.depth.abs_diff(b.depth));
    let above = i32::from(a.score.raw()) - i32::from(b.score.raw());
    let may_be_less = |v: &Verdict| v.bound == Bound::Upper;
    let may_be_more = |v: &Verdict| v.bound == Bound::Lower;
    (above > width && !may_be_less(a) && !may_be_more(b))
        || (-above > width && !may_be_less(b) && !may_be_more(a))
}
