use kagetsu_game::{Bound, Move, Score};

use super::{AlphaBeta, MAX_PLY, NO_REPETITION};
use crate::alphabeta::table::TableEntry;
use crate::heuristics::Heuristics;

impl<H: Heuristics> AlphaBeta<'_, H> {
    /// Values a leaf with the help of the table.
    pub(super) fn known_leaf(&mut self, alpha: Score, beta: Score, ply: usize) -> Option<Score> {
        let hash = self.board.hash();
        if let Some(entry) = self.table.get(hash) {
            if !entry.decides(alpha, beta) {
                return self.leaf(alpha, beta, ply);
            }
            self.lines[ply].extend(Some(entry.best).filter(|best| *best != Move::NONE));
            return Some(entry.score);
        }
        if let Some(sample) = &mut self.sample {
            sample.visit(&self.path);
        }
        let score = self.leaf(alpha, beta, ply)?;
        // No win was looked for where the evaluation alone reaches beta.
        let bound = if score >= beta && !score.is_mate() {
            Bound::Lower
        } else {
            Bound::Exact
        };
        let best = self.lines[ply].first().copied().unwrap_or(Move::NONE);
        let entry = TableEntry {
            score,
            bound,
            depth: 0,
            best,
        };
        self.table.put(hash, entry);
        Some(score)
    }

    /// Values a leaf: a win by continuous threats, else the quiescence value of the evaluation and
    /// the gaining captures. The value is at least `beta` if the evaluation alone is. `None` if the
    /// search must end.
    pub(super) fn leaf(&mut self, alpha: Score, beta: Score, ply: usize) -> Option<Score> {
        let opinion = self.evaluate().corrected;
        if opinion >= beta {
            return Some(opinion);
        }
        if let Some(score) = self.leaf_vcf(self.options.leaf_fours, ply) {
            return Some(score);
        }
        if ply >= MAX_PLY {
            Some(opinion)
        } else {
            self.capture(opinion, alpha, beta, ply)
        }
    }

    /// Returns the score of a VCF that is found within `fours` tried fours.
    fn leaf_vcf(&mut self, fours: u32, ply: usize) -> Option<Score> {
        if fours == 0 || !self.board.may_have_vcf() {
            return None;
        }
        let mut left = fours;
        let line = self.board.quick_vcf(&mut left);
        // The next visited position notices that the limit is reached.
        self.limits.count(&mut self.nodes, fours - left);
        let line = line?;
        let score = Score::win_in(line.len() as u16);
        self.lines[ply] = line;
        Some(score)
    }

    /// Returns the best of the evaluation, since no capture is compulsory, and of the values after
    /// the captures.
    fn capture(&mut self, opinion: Score, alpha: Score, beta: Score, ply: usize) -> Option<Score> {
        let Some(mut moves) = self.board.captures() else {
            return Some(opinion);
        };
        let (mut best, mut since) = (opinion, NO_REPETITION);
        while let Some((_, m)) = moves.take() {
            let alpha = alpha.max(best);
            self.play(m);
            let score = self.search(beta.after(), alpha.after(), 0, ply + 1, false);
            self.undo();
            let score = score?.before();
            since = since.min(self.since);
            if score > best {
                best = score;
                self.update_line(m, ply);
            }
            if best >= beta {
                since = self.since;
                break;
            }
        }
        self.since = since;
        Some(best)
    }
}
