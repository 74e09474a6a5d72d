pub(crate) mod history;
mod leaf;
pub(crate) mod selection;
pub(crate) mod table;

use std::collections::VecDeque;
use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use kagetsu_game::{Bound, Move, Score};

use self::selection::Node;
use crate::alphabeta::history::History;
use crate::alphabeta::table::{TableEntry, TranspositionTable};
use crate::control::exchange::Exchange;
use crate::control::limits::Limits;
use crate::heuristics::{Heuristics, Moves, Situation};
use crate::{EngineOptions, Feature};

/// Plies from the root beyond which nothing is searched, not even forced replies.
const MAX_PLY: usize = 120;

/// The value of `since` for a score that rests on no earlier position.
const NO_REPETITION: i32 = i32::MAX;

/// Principal variation search of one thread (Marsland and Campbell, "Parallel search of strongly
/// ordered game trees", 1982): the first move has the full window, the others a null window and a
/// second search if they fail high.
///
/// Scores are for the side to move; mate distances count from the node. The crate's documentation
/// explains why every mate score is a proof.
pub(crate) struct AlphaBeta<'a, H> {
    pub(crate) board: H,
    table: &'a TranspositionTable,
    limits: &'a Limits<'a>,
    options: &'a EngineOptions,
    history: History,
    /// Connection to other engines that search the same question.
    exchange: Option<&'a Exchange>,
    /// Whether this thread only fills the table for the main thread.
    is_helper: bool,
    /// Positions visited by this thread.
    pub(crate) nodes: u64,
    /// The moves from the root to the current node.
    path: Vec<Move>,
    /// The best line from each ply, as last searched.
    lines: Vec<Vec<Move>>,
    /// The ply of the earliest position that the last score rests on through a repetition, negative
    /// before the root, or [`NO_REPETITION`]. A score that rests on a position above its own node
    /// holds on this path only.
    since: i32,
    /// Plies from the root up to which checks extend the search.
    horizon: usize,
    /// Whether a null move is being verified.
    is_verifying: bool,
    /// Static evaluations by ply, for the side to move there.
    opinions: Vec<i32>,
}

/// The result of searching a root move.
#[derive(Clone, Debug)]
pub(crate) struct RootScore {
    /// From the viewpoint of the side that plays the move.
    pub(crate) score: Score,
    /// The move and its continuation.
    pub(crate) line: Vec<Move>,
    /// Whether the score rests on earlier positions of the game, so that it holds on this path
    /// only.
    pub(crate) is_bound_to_path: bool,
}

impl<H> Drop for AlphaBeta<'_, H> {
    fn drop(&mut self) {
        self.limits.finish(self.nodes);
    }
}

impl<'a, H: Heuristics> AlphaBeta<'a, H> {
    pub(crate) fn new(
        board: H,
        table: &'a TranspositionTable,
        limits: &'a Limits<'a>,
        options: &'a EngineOptions,
    ) -> Self {
        Self {
            board,
            table,
            limits,
            options,
            history: History::new(MAX_PLY + 2, H::STYLE.codes),
            exchange: limits
                .control()
                .exchange()
                .filter(|exchange| !exchange.is_alone()),
            is_helper: false,
            nodes: 0,
            path: Vec::with_capacity(MAX_PLY + 2),
            lines: vec![Vec::new(); MAX_PLY + 2],
            since: NO_REPETITION,
            horizon: 0,
            is_verifying: false,
            opinions: vec![0; MAX_PLY + 3],
        }
    }

    /// Turns the search into a helper, which ends when it is dismissed.
    pub(crate) fn helping(self) -> Self {
        let mut helper = self;
        helper.is_helper = true;
        helper
    }

    /// Searches a root move. `None` if the search must end.
    pub(crate) fn root_move(
        &mut self,
        m: Move,
        depth: u8,
        alpha: Score,
        beta: Score,
    ) -> Option<RootScore> {
        self.horizon = 2 * usize::from(depth);
        self.play(m);
        let score = self.search(beta.after(), alpha.after(), i32::from(depth) - 1, 1, false);
        self.undo();
        let score = score?.before();
        let is_bound_to_path = self.since <= 0;
        let mut line = vec![m];
        line.extend(&self.lines[1]);
        if self.exchange.is_some() && score > alpha {
            self.extend_line(&mut line, depth.into());
        }
        Some(RootScore {
            score,
            line,
            is_bound_to_path,
        })
    }

    /// Extends a line that another engine has reported, which consists of a value and one move,
    /// from the table. Replies to fours are not in the table but forced. Entries with an upper
    /// bound have no best move.
    fn extend_line(&mut self, line: &mut Vec<Move>, most: usize) {
        line.iter().for_each(|&m| self.play(m));
        while line.len() < most {
            let known = self
                .table
                .get(self.board.hash())
                .filter(|entry| entry.bound != Bound::Upper);
            let next = match self.board.situation() {
                situation @ Situation::Forced { otherwise: 2 } => {
                    self.board.moves(&situation).take().map(|(_, m)| m)
                }
                _ => known.map(|entry| entry.best),
            };
            let Some(next) = next.filter(|next| self.board.legal().contains(next)) else {
                break;
            };
            line.push(next);
            self.play(next);
        }
        line.iter().for_each(|_| self.undo());
    }

    fn play(&mut self, m: Move) {
        self.path.push(m);
        self.board.play(m);
    }

    fn undo(&mut self) {
        self.path.pop();
        self.board.undo();
    }

    fn search(
        &mut self,
        alpha: Score,
        beta: Score,
        depth: i32,
        ply: usize,
        is_cut: bool,
    ) -> Option<Score> {
        self.lines[ply].clear();
        self.since = NO_REPETITION;
        if self.limits.count(&mut self.nodes, 1) || self.is_helper && self.limits.is_dismissed() {
            return None;
        }
        let situation = self.board.situation();
        match situation {
            Situation::Over(score) => return Some(score),
            Situation::Repeated { score, plies } => {
                self.since = ply as i32 - plies as i32;
                return Some(score);
            }
            Situation::Known(score) => {
                self.lines[ply].extend(self.board.urgent().first());
                return Some(score);
            }
            // The only reply to a four costs no depth.
            Situation::Forced { otherwise: 2 } if ply < MAX_PLY => {
                let node = Node {
                    situation,
                    is_quiet: false,
                    opinion: Score::ZERO,
                    alpha,
                    beta,
                    depth: depth.max(0),
                    ply,
                    is_cut,
                    improves: false,
                };
                self.opinions[ply] = -self.opinions[ply - 1];
                let mut moves = self.board.moves(&situation);
                return self.expand(&mut moves, Score::loss_in(2), node);
            }
            Situation::Forced { .. } | Situation::Free => {}
        }
        // A side that can no longer win gets at most a draw.
        let (mine, his) = self.board.can_win();
        if !mine && alpha >= Score::ZERO || !his && beta <= Score::ZERO {
            return Some(Score::ZERO);
        }
        // A reply to a check costs no depth.
        let is_check = self.board.is_check();
        let extends = is_check && self.selects(Feature::CheckExtension) && ply < self.horizon;
        let depth = depth.max(0) + i32::from(extends);
        if depth == 0 || ply >= MAX_PLY {
            return if H::STYLE.is_forcing && self.options.selective {
                self.known_leaf(alpha, beta, ply)
            } else {
                self.leaf(alpha, beta, ply)
            };
        }
        let opinion = self.board.evaluate();
        let is_quiet = situation == Situation::Free && !is_check;
        self.opinions[ply] = if situation == Situation::Free {
            opinion.raw().into()
        } else {
            -self.opinions[ply - 1]
        };
        let improves = ply < 3 || self.opinions[ply] > self.opinions[ply - 2];
        self.probe(Node {
            situation,
            is_quiet,
            opinion,
            alpha,
            beta,
            depth,
            ply,
            is_cut,
            improves,
        })
    }

    /// Searches a node with the help of the table.
    fn probe(&mut self, mut node: Node) -> Option<Score> {
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
        let mut moves = defences.unwrap_or_else(|| self.board.moves(&situation));
        if self.options.selective {
            moves.adjust(|m| {
                self.history_value(m) / 16
                    + if self.is_killer(ply, m) {
                        H::STYLE.killer
                    } else {
                        0
                    }
            });
        }
        if let Some(entry) = known.filter(|_| self.has(Feature::TableMove)) {
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

    /// Whether a table entry may replace the search of a node.
    fn is_enough(&self, entry: &TableEntry, node: &Node) -> bool {
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
            opinion,
            alpha,
            beta,
            ply,
            ..
        } = node;
        if !is_quiet || node.is_pv() {
            return ControlFlow::Continue(());
        }
        if selection::is_far_above(node, &H::STYLE) && !self.board.is_threatened() {
            return ControlFlow::Break(Some(opinion));
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
            opinion,
            beta,
            depth,
            ply,
            ..
        } = node;
        let reduced = depth - selection::null_reduction(node);
        if depth < selection::MIN_NULL_DEPTH
            || opinion < beta
            || beta.is_mate()
            || self.last_move() == Move::NONE
            || self.is_verifying
            || !self.has(Feature::NullMove)
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

    /// Whether the options leave this feature on.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        !self.options.without.has(feature)
    }

    /// Whether this feature of selective searches is on.
    pub(crate) fn selects(&self, feature: Feature) -> bool {
        self.options.selective && self.has(feature)
    }

    /// Returns the key of the search of this position to `depth`.
    pub(crate) fn key(&self, depth: i32) -> u64 {
        (self.board.hash() ^ depth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
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

    fn side(&self) -> usize {
        self.path.len() % 2
    }

    fn is_killer(&self, ply: usize, m: Move) -> bool {
        self.has(Feature::Killers)
            && self
                .history
                .is_killer(self.side(), ply, self.last_move(), m)
    }

    /// Returns the history value of a move for the side to move.
    fn history_value(&self, m: Move) -> i32 {
        if self.has(Feature::History) {
            self.history.value(self.side(), m)
        } else {
            0
        }
    }

    fn last_move(&self) -> Move {
        self.path.last().copied().unwrap_or(Move::NONE)
    }

    /// Returns the best score of the moves, but at least `floor`, the value of the moves that are
    /// left out.
    fn expand(&mut self, moves: &mut Moves, mut floor: Score, node: Node) -> Option<Score> {
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
            self.selects(Feature::LateMoves) && (node.is_quiet || is_forcing && !is_only_reply);
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
                    let Some((m, reduction)) = deferred.remove(ended.unwrap_or(0)) else {
                        break;
                    };
                    (m, Some(reduction))
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
                    let (side, before) = (self.side(), self.last_move());
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
        // All selected moves lose; perhaps the others do, too.
        if best.loss_plies().is_some()
            && floor == -Score::OPINION_MAX
            && selection::is_worth_a_proof(&node)
            && let Some(plies) = self.refuted(&searched)
        {
            floor = Score::loss_in(plies);
        }
        Some(best.max(floor))
    }

    /// Makes the move and the line after it the best line from `ply`.
    fn update_line(&mut self, m: Move, ply: usize) {
        let (line, rest) = self.lines.split_at_mut(ply + 1);
        line[ply].clear();
        line[ply].push(m);
        line[ply].extend(&rest[0]);
    }

    /// Returns the plies within which every legal move outside `searched` loses, if one line of
    /// fours refutes them all.
    fn refuted(&mut self, searched: &[Move]) -> Option<u16> {
        let mut left = selection::MAX_THREAT_FOURS;
        let threat = self.board.opponent_vcf(&mut left);
        // The next visited position notices that the limit is reached.
        self.limits
            .count(&mut self.nodes, selection::MAX_THREAT_FOURS - left);
        let threat = threat?;
        let mut rest = self
            .board
            .legal()
            .into_iter()
            .filter(|m| !searched.contains(m));
        let all = rest.all(|m| !self.board.force(m).is_four && self.board.loses_to(m, &threat));
        all.then_some(threat.len() as u16 + 1)
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
        let above = if self.has(Feature::NullWindow) {
            Score::from_raw(alpha.raw() + 1)
        } else {
            Some(beta)
        };
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
}
