use std::hash::{BuildHasher, Hasher, RandomState};

use kagetsu_game::{Answer, Bound, Move, Verdict};
use rand::SeedableRng;
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand::rngs::StdRng;

/// How an engine chooses a move out of a book.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choice {
    /// Centi-units of value that make a move e times less likely; 0 takes the best.
    pub temperature: f64,
    /// Seed of the random generator.
    pub seed: Option<u64>,
    /// Leaves out moves that were searched less deeply and are not proven.
    pub min_depth: u8,
    /// Leaves out moves that are worse than the best by more centi-units.
    pub margin: Option<u16>,
}

impl Choice {
    /// Whether the temperature is a number, and not below 0.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.temperature.is_finite() && self.temperature >= 0.0
    }

    /// Chooses a move whose value is known exactly or from below. A proven win is always chosen; a
    /// proven loss is chosen only if there is no other move.
    ///
    /// An upper bound is no reason to make a move, however high it is. A move with an upper bound
    /// alone is chosen only if all others are lost; see [`Choice::rivals`].
    ///
    /// If no move has a value, the choice is the move that was made most often; with a temperature,
    /// each move in proportion to how often it was made.
    #[must_use]
    pub fn pick<'a>(&self, answer: &'a Answer) -> Option<&'a (Move, Verdict)> {
        let known = self.known(answer);
        let best = *known.first()?;
        if best.1.score.loss_plies().is_some() {
            return self.rivals(answer).first().copied().or(Some(best));
        }
        if self.temperature == 0.0 || best.1.score.is_mate() {
            return Some(best);
        }
        let least = self.margin.map_or(i16::MIN, |margin| {
            best.1.score.raw().saturating_sub_unsigned(margin)
        });
        let weight = |(_, v): &&(Move, Verdict)| match v.score.loss_plies() {
            Some(_) => 0.0,
            // If one move has no value, none has.
            None if v.is_silent() => v.nodes.max(1) as f64,
            None if v.score.raw() < least => 0.0,
            None => (f64::from(v.score.raw() - best.1.score.raw()) / self.temperature).exp(),
        };
        let weights = WeightedIndex::new(known.iter().map(weight)).ok()?;
        let mut chance = StdRng::seed_from_u64(self.seed.unwrap_or_else(random_seed));
        known.get(weights.sample(&mut chance)).copied()
    }

    /// Returns the moves that may be better than the best known one, the most promising first. Each
    /// has only an upper bound, which is above that value. A choice made in spite of them is in
    /// doubt. A win has no rivals.
    #[must_use]
    pub fn rivals<'a>(&self, answer: &'a Answer) -> Vec<&'a (Move, Verdict)> {
        let best = self.known(answer).first().map(|(_, v)| v.score);
        let may_be_beaten_by =
            |score| best.is_none_or(|best| best.win_plies().is_none() && score > best);
        let is_rival = |v: &Verdict| is_upper(v) && may_be_beaten_by(v.score);
        answer
            .verdicts()
            .iter()
            .filter(|(_, v)| is_rival(v))
            .collect()
    }

    /// Returns the moves that can be chosen, best first. If no move has a value, returns the moves
    /// that were made, the most frequent first.
    fn known<'a>(&self, answer: &'a Answer) -> Vec<&'a (Move, Verdict)> {
        let is_deep = |v: &Verdict| v.depth >= self.min_depth || v.proof.is_some();
        let (mut made, known): (Vec<_>, Vec<_>) = answer
            .verdicts()
            .iter()
            .filter(|(_, v)| !is_upper(v) && is_deep(v))
            .partition(|(_, v)| v.is_silent());
        made.sort_by_key(|(_, v)| std::cmp::Reverse(v.nodes));
        if known.is_empty() { made } else { known }
    }
}

/// Returns another number in each call. The standard library takes the first from the operating
/// system, where there is one.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns whether the move has an upper bound only.
fn is_upper(verdict: &Verdict) -> bool {
    verdict.bound == Bound::Upper && verdict.proof.is_none()
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Provenance, Score};

    use super::*;

    /// Moves 0, 1, 2 and so on with these values.
    fn bounded(values: &[(Score, Bound)]) -> Answer {
        let verdict = |(code, &(score, bound)): (u16, &(Score, Bound))| {
            let m = Move::new(code);
            let by = Provenance {
                engine: "test".into(),
                day: 0,
            };
            (
                m,
                Verdict {
                    score,
                    bound,
                    depth: 4,
                    nodes: 1,
                    line: vec![m],
                    proof: None,
                    by,
                },
            )
        };
        (0..).zip(values).map(verdict).collect()
    }

    fn answer(scores: &[Score]) -> Answer {
        bounded(
            &scores
                .iter()
                .map(|score| (*score, Bound::Exact))
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn temperature_sets_chance_of_worse_moves() {
        let answer = answer(&[Score::opinion(50), Score::opinion(30), Score::loss_in(2)]);
        let pick = |temperature, seed| {
            let choice = Choice {
                temperature,
                seed: Some(seed),
                ..Choice::default()
            };
            choice.pick(&answer).map(|(m, _)| m.code())
        };
        assert!((0..50).all(|seed| pick(0.0, seed) == Some(0)));
        let chosen: Vec<_> = (0..200).map(|seed| pick(20.0, seed)).collect();
        let second = chosen.iter().filter(|m| **m == Some(1)).count();
        // e times less likely: 27 in a hundred.
        assert!((30..80).contains(&second), "{second} of 200");
        assert!(
            chosen.iter().all(|m| *m != Some(2)),
            "a proven loss was chosen"
        );
        assert_eq!(pick(20.0, 7), pick(20.0, 7));
    }

    #[test]
    fn moves_below_the_margin_are_never_chosen() {
        let answer = answer(&[Score::opinion(50), Score::opinion(30), Score::opinion(29)]);
        let chosen = |margin| -> std::collections::BTreeSet<_> {
            let choice = |seed| Choice {
                temperature: 1e3,
                seed: Some(seed),
                margin,
                ..Choice::default()
            };
            (0..100)
                .filter_map(|seed| choice(seed).pick(&answer).map(|(m, _)| m.code()))
                .collect()
        };
        assert_eq!(chosen(None), [0, 1, 2].into());
        assert_eq!(chosen(Some(20)), [0, 1].into());
        assert_eq!(chosen(Some(0)), [0].into());
    }

    #[test]
    fn shallow_moves_are_left_out() {
        let answer = answer(&[Score::opinion(50)]);
        assert!(
            Choice {
                min_depth: 5,
                ..Choice::default()
            }
            .pick(&answer)
            .is_none()
        );
        assert!(
            Choice {
                min_depth: 4,
                ..Choice::default()
            }
            .pick(&answer)
            .is_some()
        );
    }

    #[test]
    fn move_with_upper_bound_is_a_rival() {
        let of = |centi| Score::opinion(centi);
        let (exact, lower, upper) = (Bound::Exact, Bound::Lower, Bound::Upper);
        type Row<'a> = (&'a [(Score, Bound)], Option<u16>, &'a [u16]);
        let rows: [Row; 8] = [
            (&[(of(10), exact), (of(10), upper)], Some(0), &[]),
            (
                &[(of(10), exact), (of(11), upper), (of(90), upper)],
                Some(0),
                &[2, 1],
            ),
            (
                &[(of(10), exact), (of(20), lower), (of(15), upper)],
                Some(1),
                &[],
            ),
            (&[(of(20), exact), (of(20), lower)], Some(0), &[]),
            (&[(of(20), upper)], None, &[0]),
            (
                &[(Score::win_in(3), exact), (Score::win_in(1), upper)],
                Some(0),
                &[],
            ),
            (
                &[(Score::loss_in(4), exact), (of(-900), upper)],
                Some(1),
                &[1],
            ),
            (
                &[(Score::loss_in(4), exact), (Score::loss_in(8), exact)],
                Some(1),
                &[],
            ),
        ];
        for (values, choice, rivals) in rows {
            let answer = bounded(values);
            for temperature in [0.0, 1e-3] {
                let all = Choice {
                    temperature,
                    seed: Some(7),
                    ..Choice::default()
                };
                assert_eq!(
                    all.pick(&answer).map(|(m, _)| m.code()),
                    choice,
                    "{values:?} at {temperature}"
                );
                let found: Vec<_> = all.rivals(&answer).iter().map(|(m, _)| m.code()).collect();
                assert_eq!(found, rivals, "{values:?}");
            }
        }
    }
}
