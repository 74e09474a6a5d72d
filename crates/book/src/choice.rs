use kagetsu_game::{Answer, Move, Verdict};
use rand::SeedableRng;
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand::rngs::StdRng;

/// How an engine chooses a move out of a book.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choice {
    /// Centi-units of value that make a move e times less likely; 0 takes the best.
    pub temperature: f64,
    /// Makes the chance the same every time.
    pub seed: Option<u64>,
    /// Leaves out moves that were searched less deeply and are not proven.
    pub min_depth: u8,
}

impl Choice {
    /// Whether the temperature is a number, and not below 0.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.temperature.is_finite() && self.temperature >= 0.0
    }

    /// A move with a known value. A proven win is always taken, a proven loss never while there is another move.
    #[must_use]
    pub fn pick<'a>(&self, answer: &'a Answer) -> Option<&'a (Move, Verdict)> {
        let is_deep = |v: &Verdict| v.depth >= self.min_depth || v.proof.is_some();
        let known: Vec<_> = answer.verdicts().iter().filter(|(_, v)| v.is_exact() && is_deep(v)).collect();
        let best = *known.first()?;
        if self.temperature == 0.0 || best.1.score.is_mate() {
            return Some(best);
        }
        let weight = |(_, v): &&(Move, Verdict)| match v.score.loss_plies() {
            Some(_) => 0.0,
            None => (f64::from(v.score.raw() - best.1.score.raw()) / self.temperature).exp(),
        };
        let weights = WeightedIndex::new(known.iter().map(weight)).ok()?;
        let mut chance = self.seed.map_or_else(rand::make_rng, StdRng::seed_from_u64);
        known.get(weights.sample(&mut chance)).copied()
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Bound, Provenance, Score};

    use super::*;

    fn answer(scores: &[Score]) -> Answer {
        let verdict = |(code, score): (u16, &Score)| {
            let m = Move::new(code);
            let by = Provenance { engine: "test".into(), day: 0 };
            (m, Verdict { score: *score, bound: Bound::Exact, depth: 4, nodes: 1, line: vec![m], proof: None, by })
        };
        (0..).zip(scores).map(verdict).collect()
    }

    #[test]
    fn the_temperature_says_how_often_a_worse_move_is_chosen() {
        let answer = answer(&[Score::opinion(50), Score::opinion(30), Score::loss_in(2)]);
        let pick = |temperature, seed| {
            let choice = Choice { temperature, seed: Some(seed), min_depth: 0 };
            choice.pick(&answer).map(|(m, _)| m.code())
        };
        assert!((0..50).all(|seed| pick(0.0, seed) == Some(0)));
        let chosen: Vec<_> = (0..200).map(|seed| pick(20.0, seed)).collect();
        let second = chosen.iter().filter(|m| **m == Some(1)).count();
        // e times less likely: 27 in a hundred.
        assert!((30..80).contains(&second), "{second} of 200");
        assert!(chosen.iter().all(|m| *m != Some(2)), "a proven loss was chosen");
        assert_eq!(pick(20.0, 7), pick(20.0, 7));
    }

    #[test]
    fn what_is_shallow_is_left_out() {
        let answer = answer(&[Score::opinion(50)]);
        assert!(Choice { min_depth: 5, ..Choice::default() }.pick(&answer).is_none());
        assert!(Choice { min_depth: 4, ..Choice::default() }.pick(&answer).is_some());
    }
}
