//! The search of a node with the help of the table, and the pruning of whole nodes.

use std::ops::ControlFlow;

use kagetsu_game::{Bound, Move, Score};

use super::selection::{self, Node};
use super::{AlphaBeta, NO_REPETITION};
use crate::alphabeta::table::TableEntry;
use crate::heuristics::{Heuristics, Moves, Situation};

impl<H: Heuristics> AlphaBeta<'_, H> {
    /// Searches a node with the help of the table.
    pub(super) fn probe(&mut self, mut node: Node) -> Option<Score> {
        let Node {
            situation,
            alpha,
            beta,
            depth,
            ply,
            ..
        } = node;
        let hash = self.board.hash();
        if let Some(exchange) = self.exchange {
            exchange.apply_incoming(self.table);
        }
        let known = self.table.get(hash);
        if let Some(entry) =
            known.filter(|entry| self.is_enough(entry, &node) && entry.decides(alpha, beta))
        {
            if entry.best != Move::NONE {
                self.lines[ply].push(entry.best);
            }
            return Some(entry.score);
        }
        if self.options.selective {
            if let ControlFlow::Break(score) = self.prune_node(&node) {
                return score;
            }
            if known.is_none_or(|entry| entry.best == Move::NONE) {
                node.depth = selection::without_a_table_move(depth);
            }
        }
        let defences = if self.options.selective && node.is_quiet {
            self.board.replies_to_four_three()
        } else {
            None
        };
        // A list that is filled in place is not copied.
        let mut moves = Moves::new(false);
        match defences {
            Some(defences) => moves = defences,
            None => self.board.list_moves(&situation, &mut moves),
        }
        if self.options.selective {
            let before = self.last_moves();
            moves.adjust(|m| {
                self.learned_worth(before, m)
                    + if self.is_killer(ply, m) {
                        H::STYLE.killer
                    } else {
                        0
                    }
            });
        }
        if let Some(entry) = known {
            moves.promote(entry.best);
        }
        // The value of the moves that are left out. A node is not lost because a selection of its
        // moves is.
        let floor = match situation {
            Situation::Forced { otherwise } => Score::loss_in(otherwise),
            _ if moves.complete => Score::MIN,
            _ => -Score::OPINION_MAX,
        };
        let score = self.expand(&mut moves, floor, node)?;
        self.learn_error(&node, depth, score);
        let best = self.lines[ply].first().copied().unwrap_or(Move::NONE);
        // A score that holds on this path only is not stored, but its move may still be the best.
        if self.since < ply as i32 {
            self.table.put(
                hash,
                TableEntry {
                    score: Score::MIN,
                    bound: Bound::Lower,
                    depth: 0,
                    best,
                },
            );
            return Some(score);
        }
        self.since = NO_REPETITION;
        let bound = match score {
            _ if score >= beta => Bound::Lower,
            _ if score <= alpha => Bound::Upper,
            _ => Bound::Exact,
        };
        let entry = TableEntry {
            score,
            bound,
            depth: depth as u8,
            best,
        };
        // Entries that came from another engine are not published again.
        if let Some(exchange) = self
            .exchange
            .filter(|exchange| depth >= exchange.min_depth())
            && self.table.get(hash) != Some(entry)
        {
            exchange.publish(hash, entry);
        }
        self.table.put(hash, entry);
        Some(score)
    }

    /// Learns the error of the static evaluation of a quiet node, where its score shows one.
    fn learn_error(&mut self, node: &Node, depth: i32, score: Score) {
        let opinion = node.value.corrected;
        let shows_none =
            score >= node.beta && score <= opinion || score <= node.alpha && score >= opinion;
        if let Some(corrections) = &mut self.corrections
            && node.is_quiet
            && !score.is_mate()
            && !shows_none
        {
            corrections.learn(node.value, score, depth);
        }
    }

    /// Whether a table entry may replace the search of a node.
    pub(super) fn is_enough(&self, entry: &TableEntry, node: &Node) -> bool {
        let depth = i32::from(entry.depth);
        // An engine that searches alone searches the principal variation itself; of several engines
        // one does and shares its value.
        let stands = !node.is_pv() || self.exchange.is_some() && entry.bound == Bound::Exact;
        entry.is_proof()
            || if self.options.selective {
                depth >= node.depth && stands
            } else {
                depth == node.depth
            }
    }

    /// Returns the value of a node that is far outside the window without searching its moves.
    /// `Break(None)` if the search must end.
    fn prune_node(&mut self, node: &Node) -> ControlFlow<Option<Score>> {
        let &Node {
            is_quiet,
            value,
            alpha,
            beta,
            ply,
            ..
        } = node;
        if !is_quiet || node.is_pv() {
            return ControlFlow::Continue(());
        }
        if selection::is_far_above(node, &H::STYLE) && !self.board.is_threatened() {
            return ControlFlow::Break(Some(value.corrected));
        }
        if selection::is_far_below(node, &H::STYLE) {
            match self.leaf(alpha, beta, ply) {
                Some(score) if score > alpha && !score.is_mate() => {}
                score => return ControlFlow::Break(score),
            }
        }
        self.null_move(node)
    }

    /// Null-move pruning (Donninger, "Null move and deep search", ICCA Journal 16(3), 1993): a node
    /// whose value stays above the window after passing needs no search. Never twice in a row; deep
    /// nodes are verified by a search without it.
    fn null_move(&mut self, node: &Node) -> ControlFlow<Option<Score>> {
        let &Node {
            value,
            beta,
            depth,
            ply,
            ..
        } = node;
        let reduced = depth - selection::null_reduction(node);
        if depth < selection::MIN_NULL_DEPTH
            || value.corrected < beta
            || beta.is_mate()
            || self.last_move() == Move::NONE
            || self.is_verifying
            || !self.board.pass()
        {
            return ControlFlow::Continue(());
        }
        self.path.push(Move::NONE);
        let (below, above) = (Score::from_raw(beta.raw() - 1).unwrap_or(Score::MIN), beta);
        let score = self
            .search(above.after(), below.after(), reduced, ply + 1, !node.is_cut)
            .map(Score::before);
        self.undo();
        let Some(score) = score else {
            return ControlFlow::Break(None);
        };
        self.lines[ply].clear();
        if score < beta {
            return ControlFlow::Continue(());
        }
        let score = score.min(Score::OPINION_MAX);
        if depth < selection::MIN_VERIFIED_DEPTH {
            return ControlFlow::Break(Some(score));
        }
        self.is_verifying = true;
        let verified = self.probe(Node {
            alpha: below,
            depth: reduced,
            ..*node
        });
        self.is_verifying = false;
        match verified {
            Some(verified) if verified < beta => ControlFlow::Continue(()),
            verified => ControlFlow::Break(verified),
        }
    }
}
