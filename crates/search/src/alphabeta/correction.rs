use kagetsu_game::Score;

/// Classes of positions of one side.
const CLASSES: usize = 1 << 16;

/// Fixed point of a correction.
const UNIT: i32 = 64;

/// Greatest magnitude of an error that counts, in centi-units.
const MAX_ERROR: i32 = 300;

/// Greatest magnitude of a correction, in centi-units.
const MAX_CORRECTION: i32 = 72;

/// A correction is the mean of this share of the errors.
const SHARE: (i32, i32) = (3, 5);

/// The weight of all errors before a new one and of that together.
const WEIGHTS: i32 = 256;

/// Greatest weight of one error.
const MAX_WEIGHT: i32 = 16;

/// Errors of the static evaluation that a thread has seen, by side to move and class of position.
#[derive(Clone, Debug)]
pub(crate) struct Corrections(Vec<i16>);

/// A static evaluation for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaticValue {
    pub(crate) raw: Score,
    /// The class of the position and its side to move.
    slot: usize,
    pub(crate) corrected: Score,
}

impl Corrections {
    pub(crate) fn new() -> Self {
        Self(vec![0; 2 * CLASSES])
    }

    /// Corrects the evaluation of a position of a class.
    pub(crate) fn correct(&self, raw: Score, side: usize, class: u16) -> StaticValue {
        let slot = side * CLASSES + usize::from(class);
        let correction = i32::from(self.0[slot]) / UNIT;
        StaticValue {
            raw,
            slot,
            corrected: Score::opinion(i32::from(raw.raw()) + correction),
        }
    }

    /// Learns the value that a search to `depth` has found.
    pub(crate) fn learn(&mut self, known: StaticValue, score: Score, depth: i32) {
        let error = i32::from(score.raw()) - i32::from(known.raw.raw());
        let error = error.clamp(-MAX_ERROR, MAX_ERROR) * UNIT * SHARE.0 / SHARE.1;
        let weight = (depth + 1).min(MAX_WEIGHT);
        let value = &mut self.0[known.slot];
        let mean = (i32::from(*value) * (WEIGHTS - weight) + error * weight) / WEIGHTS;
        *value = mean.clamp(-MAX_CORRECTION * UNIT, MAX_CORRECTION * UNIT) as i16;
    }
}

impl From<Score> for StaticValue {
    /// Returns an evaluation that nothing corrects.
    fn from(raw: Score) -> Self {
        Self {
            raw,
            slot: 0,
            corrected: raw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_follow_errors_of_their_class() {
        let mut corrections = Corrections::new();
        let raw = Score::opinion(20);
        for _ in 0..1_000 {
            let known = corrections.correct(raw, 1, 7);
            corrections.learn(known, Score::opinion(70), 4);
        }
        let corrected = |side, class| corrections.correct(raw, side, class).corrected.raw();
        assert!((45..=50).contains(&corrected(1, 7)), "{}", corrected(1, 7));
        assert_eq!([corrected(0, 7), corrected(1, 8)], [20, 20]);
        for _ in 0..1_000 {
            let known = corrections.correct(raw, 1, 7);
            corrections.learn(known, -Score::OPINION_MAX, 40);
        }
        let lowest = corrections.correct(raw, 1, 7).corrected.raw();
        assert_eq!(i32::from(lowest), 20 - MAX_CORRECTION);
    }
}
