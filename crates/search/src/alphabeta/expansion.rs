//! The search of the moves of a node.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use kagetsu_game::{Move, Score};

use super::selection::{self, Node};
use super::{AlphaBeta, NO_REPETITION};
use crate::control::exchange::Exchange;
use crate::heuristics::{Heuristics, Moves};

impl<H: Heuristics> AlphaBeta<'_, H> {
    /// Returns the best score of the moves, but at least `floor`, the value of the moves that are
    /// left out.
    pub(super) fn expand(
        &mut self,
        moves: &mut Moves,
        mut floor: Score,
        node: Node,
    ) -> Option<Score> {
        let Node {
            mut alpha,
            beta,
            depth,
            ply,
            ..
        } = node;
        let mut best = Score::MIN;
        // The reply to a four keeps the depth; every other move costs one ply.
        let is_only_reply = floor == Score::loss_in(2);
        let next = if is_only_reply { depth } else { depth - 1 };
        let mut searched: ArrayVec<Move, 64> = ArrayVec::new();
        // Plies by which the searches after an improvement of alpha are shorter.
        let mut improved = 0;
        let is_forcing = H::STYLE.is_forcing && self.options.selective;
        let is_likely_high = is_forcing && node.is_quiet && selection::is_likely_high(&node);
        let has_late_moves =
            self.options.selective && (node.is_quiet || is_forcing && !is_only_reply);
        let mut deferred: VecDeque<(Move, i32)> = VecDeque::new();
        let (mut since, mut of_best) = (NO_REPETITION, NO_REPETITION);
        let exchange = self
            .exchange
            .filter(|exchange| depth > exchange.min_depth());
        let hash = self.board.hash();
        loop {
            // Moves that another engine is searching come last, in the order in which those
            // searches end.
            let (m, again) = match moves.take() {
                Some((_, m)) => (m, None),
                None => {
                    let ended = deferred
                        .iter()
                        .position(|&(m, reduction)| !self.is_busy(m, next - reduction));
                    if let Some((m, reduction)) = deferred.remove(ended.unwrap_or(0)) {
                        (m, Some(reduction))
                    } else {
                        // All selected moves lose; perhaps another one does not.
                        let is_lost = is_forcing
                            && best.loss_plies().is_some()
                            && floor == -Score::OPINION_MAX;
                        let plies = is_lost.then(|| self.list_others(&searched, moves));
                        let Some(plies) = plies.flatten() else {
                            break;
                        };
                        floor = Score::loss_in(plies);
                        continue;
                    }
                }
            };
            // Another engine may have published the value meanwhile.
            if let Some(score) = exchange
                .filter(|_| !searched.is_empty())
                .and_then(|e| self.shared_value(e, hash, &node))
            {
                return Some(score);
            }
            let mut reduction = again.unwrap_or(0);
            let mut less = improved;
            if again.is_none() && has_late_moves && best > -Score::OPINION_MAX {
                let force = self.board.force(m);
                less += i32::from(is_likely_high && !force.is_four);
                if selection::is_prunable(&node, alpha, searched.len(), force, &H::STYLE) {
                    floor = floor.max(-Score::OPINION_MAX);
                    continue;
                }
                reduction = selection::reduction(
                    &node,
                    searched.len(),
                    force,
                    self.history_value(m),
                    &H::STYLE,
                );
            }
            self.play(m);
            let own = exchange
                .filter(|e| !searched.is_empty() && next - reduction >= e.min_depth())
                .map(|exchange| (exchange, self.key(next - reduction)));
            if let Some((exchange, key)) = own {
                if again.is_none() && exchange.is_busy(key) {
                    self.undo();
                    deferred.push_back((m, reduction));
                    continue;
                }
                exchange.search_started(key);
            }
            let score = self.child(
                searched.is_empty(),
                alpha,
                beta,
                (next - less, reduction),
                ply + 1,
                node.is_cut,
            );
            self.undo();
            if let Some((exchange, key)) = own {
                exchange.search_ended(key);
            }
            let score = score?;
            since = since.min(self.since);
            // The history learns from the first 64 moves only.
            let _ = searched.try_push(m);
            if score > best {
                (best, of_best) = (score, self.since);
                if score > floor {
                    self.update_line(m, ply);
                }
                if is_forcing && score > alpha && selection::is_enough_improved(&node, score) {
                    improved = 1;
                }
                alpha = alpha.max(score);
            }
            if alpha >= beta {
                // A cutoff rests on this move alone.
                since = self.since;
                if self.options.selective && node.is_quiet {
                    let (side, before) = (self.side(), self.last_moves());
                    self.history.learn(side, ply, before, &searched, depth);
                }
                break;
            }
        }
        // A win rests on one move only.
        self.since = if best.win_plies().is_some() {
            of_best
        } else {
            since
        };
        Some(best.max(floor))
    }

    /// Makes the move and the line after it the best line from `ply`.
    pub(super) fn update_line(&mut self, m: Move, ply: usize) {
        let (line, rest) = self.lines.split_at_mut(ply + 1);
        line[ply].clear();
        line[ply].push(m);
        line[ply].extend(&rest[0]);
    }

    /// Lists the moves outside `searched` that may meet the opponent's continuous fours. Returns
    /// the plies within which the rest loses, or `None` if no such fours are found.
    fn list_others(&mut self, searched: &[Move], moves: &mut Moves) -> Option<u16> {
        let mut left = selection::MAX_THREAT_FOURS;
        let others = self.board.other_replies(&mut left, searched);
        // The next visited position notices that the limit is reached.
        self.limits
            .count(&mut self.nodes, selection::MAX_THREAT_FOURS - left);
        let (plies, others) = others?;
        *moves = others;
        Some(plies)
    }

    /// Returns the value of the move just played, from the viewpoint of its side.
    fn child(
        &mut self,
        is_first: bool,
        alpha: Score,
        beta: Score,
        (depth, reduction): (i32, i32),
        ply: usize,
        is_cut: bool,
    ) -> Option<Score> {
        let is_null = i32::from(beta.raw()) - i32::from(alpha.raw()) <= 1;
        let above = Score::from_raw(alpha.raw() + 1);
        if !is_first && let Some(above) = above.filter(|&above| above <= beta) {
            if reduction > 0 {
                let score = self
                    .search(above.after(), alpha.after(), depth - reduction, ply, true)?
                    .before();
                if score <= alpha {
                    return Some(score);
                }
            }
            let score = self
                .search(above.after(), alpha.after(), depth, ply, !is_cut)?
                .before();
            if score <= alpha || score >= beta || above == beta {
                return Some(score);
            }
        }
        Some(
            self.search(
                beta.after(),
                alpha.after(),
                depth,
                ply,
                is_first && is_null && !is_cut,
            )?
            .before(),
        )
    }

    fn is_busy(&mut self, m: Move, depth: i32) -> bool {
        let Some(exchange) = self.exchange else {
            return false;
        };
        self.play(m);
        let key = self.key(depth);
        self.undo();
        exchange.is_busy(key)
    }

    /// Returns the value of a node that another engine has published since the search of the node
    /// began.
    fn shared_value(&mut self, exchange: &Exchange, hash: u64, node: &Node) -> Option<Score> {
        exchange.apply_incoming(self.table);
        let entry = self
            .table
            .get(hash)
            .filter(|entry| self.is_enough(entry, node) && entry.decides(node.alpha, node.beta))?;
        self.since = NO_REPETITION;
        self.lines[node.ply].clear();
        self.lines[node.ply].extend(Some(entry.best).filter(|best| *best != Move::NONE));
        Some(entry.score)
    }
}
