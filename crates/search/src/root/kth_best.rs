use std::sync::atomic::{AtomicI16, Ordering::Relaxed};

use kagetsu_game::Score;
use parking_lot::Mutex;

/// The score of the `width`-th best root move so far, which another move must beat. Shared by the
/// threads.
pub(crate) struct KthBest {
    alpha: Score,
    width: usize,
    scores: Mutex<Vec<Score>>,
    bound: AtomicI16,
}

impl KthBest {
    pub(crate) fn new(alpha: Score, width: usize) -> Self {
        Self {
            alpha,
            width,
            scores: Mutex::default(),
            bound: AtomicI16::new(alpha.raw()),
        }
    }

    pub(crate) fn score(&self) -> Score {
        Score::from_raw(self.bound.load(Relaxed)).unwrap_or(self.alpha)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.score() > self.alpha
    }

    pub(crate) fn raise(&self, score: Score) {
        let mut scores = self.scores.lock();
        scores.push(score);
        scores.sort_unstable_by(|a, b| b.cmp(a));
        scores.truncate(self.width);
        if let Some(&last) = scores.get(self.width - 1) {
            self.bound.store(last.max(self.alpha).raw(), Relaxed);
        }
    }
}
