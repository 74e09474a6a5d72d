//! Whether two answers to one question can both be right.

use kagetsu_game::{Answer, Bound, Position, Verdict};

/// How far two values of one move may lie apart, in centi-units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Band {
    /// Of one engine with one thread and an effort in depth or nodes: only the size of their tables may differ.
    Narrow,
    /// Of engines that differ, of several threads, or within a time.
    Wide,
}

impl Band {
    const fn width(self) -> i32 {
        match self {
            Self::Narrow => 60,
            Self::Wide => 400,
        }
    }
}

/// What two answers contradict each other in, if they do: a proof that the other has not is none in itself where the
/// searches may differ.
pub(crate) fn difference(
    position: &Position,
    band: Band,
    one: &Answer,
    other: &Answer,
) -> Option<String> {
    let (one_best, other_best) = (one.best()?, other.best()?);
    let differs = |m: &_, a: &Verdict, b: &Verdict| {
        let named = |what: &str| {
            Some(format!(
                "{}: {} and {}{what}",
                position.write_move(*m),
                a.score,
                b.score
            ))
        };
        match (a.proof, b.proof) {
            (Some(a), Some(b)) if a.contradicts(b) => named(", both proven"),
            (Some(_), None) | (None, Some(_))
                if band == Band::Narrow && a.is_exact() && b.is_exact() =>
            {
                named(", only one proven")
            }
            (None, None) if is_apart(a, b, band.width()) => named(""),
            _ => None,
        }
    };
    let shared = one
        .verdicts()
        .iter()
        .filter_map(|(m, a)| Some((m, a, other.get(*m)?)));
    if let Some(found) = shared
        .filter(|(_, a, b)| a.depth == b.depth)
        .find_map(|(m, a, b)| differs(m, a, b))
    {
        return Some(found);
    }
    let ((m, a), (n, b)) = (one_best, other_best);
    let are_opinions = a.proof.is_none() && b.proof.is_none();
    (are_opinions && a.depth == b.depth && is_apart(a, b, band.width())).then(|| {
        let (m, n) = (position.write_move(m), position.write_move(n));
        format!("the best is {m} with {}, and {n} with {}", a.score, b.score)
    })
}

/// Whether no value fits both.
fn is_apart(a: &Verdict, b: &Verdict, width: i32) -> bool {
    let above = i32::from(a.score.raw()) - i32::from(b.score.raw());
    let may_be_less = |v: &Verdict| v.bound == Bound::Upper;
    let may_be_more = |v: &Verdict| v.bound == Bound::Lower;
    // What stands above may come down to the other, and what stands below may come up.
    above > width && !may_be_less(a) && !may_be_more(b)
        || -above > width && !may_be_less(b) && !may_be_more(a)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Claim, Move, Proof, ProofKind, Provenance, Score, Variant};

    use super::*;

    fn verdict(score: i32, bound: Bound, proof: Option<Claim>) -> Verdict {
        let proof = proof.map(|claim| Proof {
            claim,
            kind: ProofKind::Search,
            plies: 5,
        });
        let score = proof.map_or(Score::opinion(score), Proof::score);
        Verdict {
            score,
            bound,
            depth: 6,
            nodes: 9,
            line: vec![],
            proof,
            by: Provenance {
                engine: "e".into(),
                day: 1,
            },
        }
    }

    /// Score, bound and proof of one move in each answer; whether they differ narrowly, and widely.
    type Row = (
        (i32, Bound, Option<Claim>),
        (i32, Bound, Option<Claim>),
        bool,
        bool,
    );

    #[test]
    fn what_differs_and_what_may() {
        use Bound::{Exact, Lower, Upper};
        use Claim::{Draw, Loss, Win};
        let rows: [Row; 13] = [
            ((30, Exact, None), (30, Exact, None), false, false),
            ((30, Exact, None), (80, Exact, None), false, false),
            ((30, Exact, None), (130, Exact, None), true, false),
            ((30, Exact, None), (900, Exact, None), true, true),
            ((900, Upper, None), (30, Exact, None), false, false),
            ((900, Lower, None), (30, Exact, None), true, true),
            ((900, Exact, None), (30, Upper, None), true, true),
            ((900, Exact, None), (30, Lower, None), false, false),
            ((0, Exact, Some(Win)), (0, Exact, Some(Loss)), true, true),
            ((0, Exact, Some(Win)), (0, Exact, Some(Draw)), true, true),
            ((0, Exact, Some(Win)), (0, Exact, Some(Win)), false, false),
            ((0, Exact, Some(Win)), (30, Exact, None), true, false),
            ((0, Exact, Some(Loss)), (30, Upper, None), false, false),
        ];
        let position = Position::start(Variant::FREESTYLE_15);
        for (one, other, narrowly, widely) in rows {
            let answer = |(score, bound, proof)| {
                [(Move::new(112), verdict(score, bound, proof))]
                    .into_iter()
                    .collect()
            };
            let (a, b): (Answer, Answer) = (answer(one), answer(other));
            for (band, differs) in [(Band::Narrow, narrowly), (Band::Wide, widely)] {
                assert_eq!(
                    difference(&position, band, &a, &b).is_some(),
                    differs,
                    "{one:?} {other:?} {band:?}"
                );
                assert_eq!(
                    difference(&position, band, &b, &a).is_some(),
                    differs,
                    "{other:?} {one:?} {band:?}"
                );
            }
        }
    }
}
