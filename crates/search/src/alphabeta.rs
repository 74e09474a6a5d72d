use kagetsu_game::{Bound, Move, Score};

use crate::heuristics::{Heuristics, Moves, Situation};
use crate::limits::Limits;
use crate::table::{Entry, Table};

/// Plies from the root beyond which nothing is searched, however forced.
const DEEPEST: usize = 120;

/// Principal variation search (Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982) of one
/// thread: the first move with the whole window, the others with a null window, and again where that fails high.
///
/// Scores are for the side to move, mates from the node. See the crate's documentation for why every mate is a proof.
pub(crate) struct AlphaBeta<'a, H> {
    pub(crate) board: H,
    pub(crate) table: &'a Table,
    pub(crate) limits: &'a Limits<'a>,
    /// Fours tried at a leaf.
    pub(crate) leaf_fours: u32,
    /// Positions visited by this thread.
    pub(crate) nodes: u64,
    /// The best line from each ply, the last searched.
    lines: Vec<Vec<Move>>,
}

impl<'a, H: Heuristics> AlphaBeta<'a, H> {
    pub(crate) fn new(board: H, table: &'a Table, limits: &'a Limits<'a>, leaf_fours: u32) -> Self {
        Self { board, table, limits, leaf_fours, nodes: 0, lines: vec![Vec::new(); DEEPEST + 2] }
    }

    /// The value of a root move, for the side that makes it, and the line that follows it. `None` if the search must end.
    pub(crate) fn root_move(&mut self, m: Move, depth: u8, alpha: Score, beta: Score) -> Option<(Score, Vec<Move>)> {
        self.board.play(m);
        let score = self.search(beta.after(), alpha.after(), i32::from(depth) - 1, 1);
        self.board.undo();
        let mut line = vec![m];
        line.extend(&self.lines[1]);
        score.map(|score| (score.before(), line))
    }

    fn search(&mut self, alpha: Score, beta: Score, depth: i32, ply: usize) -> Option<Score> {
        self.lines[ply].clear();
        if self.limits.count(&mut self.nodes) {
            return None;
        }
        let situation = self.board.situation();
        match situation {
            Situation::Over(score) => return Some(score),
            Situation::Known(score) => {
                self.lines[ply].extend(self.board.urgent().first());
                return Some(score);
            }
            // The only answer to a four costs no depth.
            Situation::Forced { otherwise: 2 } if ply < DEEPEST => {
                let mut moves = self.board.moves(&situation);
                return self.expand(&mut moves, Score::loss_in(2), alpha, beta, depth.max(0), ply);
            }
            Situation::Forced { .. } | Situation::Free => {}
        }
        if depth <= 0 || ply >= DEEPEST {
            return Some(self.leaf(beta, ply));
        }
        self.probe(situation, alpha, beta, depth, ply)
    }

    /// A win by fours if there is one, else the opinion; at least `beta` if the opinion alone is.
    fn leaf(&mut self, beta: Score, ply: usize) -> Score {
        let opinion = self.board.evaluate();
        if opinion < beta && self.leaf_fours > 0 && self.board.has_kill() {
            let mut budget = self.leaf_fours;
            if let Some(line) = self.board.kill(&mut budget, self.leaf_fours) {
                let score = Score::win_in(line.len() as u16);
                self.lines[ply] = line;
                return score;
            }
        }
        opinion
    }

    /// Searches with the help of the table.
    fn probe(&mut self, situation: Situation, alpha: Score, beta: Score, depth: i32, ply: usize) -> Option<Score> {
        let hash = self.board.hash();
        let known = self.table.get(hash);
        if let Some(entry) = known.filter(|entry| i32::from(entry.depth) == depth || entry.is_proof()) {
            let cuts = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => entry.score >= beta,
                Bound::Upper => entry.score <= alpha,
            };
            if cuts {
                if entry.best != Move::NONE {
                    self.lines[ply].push(entry.best);
                }
                return Some(entry.score);
            }
        }
        let mut moves = self.board.moves(&situation);
        if let Some(entry) = known {
            moves.promote(entry.best);
        }
        // What the moves that are left out are worth: nothing is called lost because a choice of moves is.
        let floor = match situation {
            Situation::Forced { otherwise } => Score::loss_in(otherwise),
            _ if moves.complete => Score::MIN,
            _ => -Score::OPINION_MAX,
        };
        let score = self.expand(&mut moves, floor, alpha, beta, depth, ply)?;
        let bound = match score {
            _ if score >= beta => Bound::Lower,
            _ if score <= alpha => Bound::Upper,
            _ => Bound::Exact,
        };
        let best = self.lines[ply].first().copied().unwrap_or(Move::NONE);
        self.table.put(hash, Entry { score, bound, depth: depth as u8, best });
        Some(score)
    }

    /// The best of the moves, but no less than `floor`, which is what the moves that are left out are worth.
    fn expand(
        &mut self,
        moves: &mut Moves,
        floor: Score,
        mut alpha: Score,
        beta: Score,
        depth: i32,
        ply: usize,
    ) -> Option<Score> {
        let mut best = floor;
        // The answer to a four keeps its depth; every other move costs one.
        let next = if floor == Score::loss_in(2) { depth } else { depth - 1 };
        let mut is_first = true;
        while let Some((_, m)) = moves.take() {
            self.board.play(m);
            let score = self.child(is_first, alpha, beta, next, ply + 1);
            is_first = false;
            self.board.undo();
            let score = score?;
            if score > best {
                best = score;
                let (line, rest) = self.lines.split_at_mut(ply + 1);
                line[ply].clear();
                line[ply].push(m);
                line[ply].extend(&rest[0]);
                alpha = alpha.max(score);
            }
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    /// The value of the move just played, for the side that played it.
    fn child(&mut self, is_first: bool, alpha: Score, beta: Score, depth: i32, ply: usize) -> Option<Score> {
        if !is_first && let Some(above) = Score::from_raw(alpha.raw() + 1).filter(|&above| above < beta) {
            let score = self.search(above.after(), alpha.after(), depth, ply)?.before();
            if score <= alpha || score >= beta {
                return Some(score);
            }
        }
        Some(self.search(beta.after(), alpha.after(), depth, ply)?.before())
    }
}
