//! Iterative deepening of the root moves.

use std::collections::BTreeSet;

use kagetsu_game::{Answer, Bound, Effort, Move, Score};

use super::examination::Examined;
use super::kth_best::KthBest;
use super::{Root, RootMove, RootSearch};
use crate::alphabeta::{AlphaBeta, RootScore};
use crate::control::limits::SearchLimits;
use crate::heuristics::Heuristics;
use crate::{EngineOptions, Progress, ThreadSplit};

impl RootSearch<'_> {
    /// Searches with one thread or with all of them.
    pub(super) fn deepen<H: Heuristics + Sync>(
        &self,
        board: &H,
        root: &Root,
        limits: &SearchLimits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        match self
            .pool
            .filter(|_| self.options.split == ThreadSplit::Shared)
        {
            None => self.iterations(board, root, limits, progress),
            Some(pool) => pool.in_place_scope(|scope| {
                for number in 1..self.options.threads {
                    scope.spawn(move |_| self.help(board, root, limits, number));
                }
                let answer = self.iterations(board, root, limits, progress);
                limits.dismiss();
                answer
            }),
        }
    }

    pub(super) fn deepest(&self) -> u8 {
        self.question
            .effort
            .depth
            .unwrap_or(Effort::MAX_DEPTH)
            .min(Effort::MAX_DEPTH)
    }

    /// Whether more than half of the question's time is over. Growing the table takes long, and the
    /// rest of the search does not need it.
    fn is_past_half(&self, limits: &SearchLimits) -> bool {
        let time = self.question.effort.time;
        time.is_some_and(|time| limits.elapsed() > time / 2)
    }

    /// Fills the shared table beside the main thread; every second helper searches one ply deeper.
    fn help<H: Heuristics>(&self, board: &H, root: &Root, limits: &SearchLimits, number: usize) {
        let mut search = AlphaBeta::new(board.clone(), self.table, limits, self.options).helping();
        let mut known: Vec<RootMove> = root.moves.iter().map(RootMove::new).collect();
        let first = 1 + number as u8 % 2;
        for depth in first..=self.deepest() {
            let kth = KthBest::new(self.window().alpha, self.width().min(known.len()));
            let found = known
                .iter()
                .enumerate()
                .map(|(at, found)| self.root_move(&mut search, found, at, depth, &kth));
            let Some(mut found) = found.collect::<Option<Vec<_>>>() else {
                return;
            };
            order(&mut found);
            known = found;
        }
    }

    /// Iterative deepening; each iteration uses the move order of the last.
    fn iterations<H: Heuristics + Sync>(
        &self,
        board: &H,
        root: &Root,
        limits: &SearchLimits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        let mut known: Vec<RootMove> = root.moves.iter().map(RootMove::new).collect();
        if known.is_empty() {
            return self.answer(&known, root);
        }
        let mut own = AlphaBeta::new(board.clone(), self.table, limits, self.options);
        let at_once = !self.options.seed && self.question.effort.depth.is_some();
        let mut depth = if at_once { self.deepest() } else { 1 };
        let mut examined = Examined::default();
        while depth <= self.deepest() {
            let exchange = limits.control().exchange();
            if exchange.is_some_and(|exchange| exchange.skips(depth, self.deepest())) {
                depth += 1;
                continue;
            }
            let nodes = limits.nodes().max(own.nodes);
            if at_once {
                self.table.grow(u64::MAX);
            } else if !self.is_past_half(limits) {
                self.table.grow(nodes);
            }
            let mut found = self.iterate(board, &mut own, &known, depth, limits);
            let is_whole = found.len() == known.len();
            order(&mut found);
            if !is_whole && !is_better(&found, &known) {
                break;
            }
            let searched: BTreeSet<Move> = found.iter().map(|found| found.m).collect();
            let rest = known
                .into_iter()
                .filter(|known| !searched.contains(&known.m));
            found.extend(rest);
            known = found;
            if !is_whole {
                break;
            }
            // If all selected moves lose, search the others as well.
            if root.is_choice && is_lost(&known) {
                let searched: Vec<Move> = known.iter().map(|found| found.m).collect();
                let others = self.others(&searched);
                if !others.is_empty() {
                    known.extend(others.iter().map(RootMove::new));
                    continue;
                }
            }
            if self.is_refuted(board, &known, &mut examined, limits) {
                continue;
            }
            let answer = self.answer(&known, root);
            let elapsed = limits.elapsed();
            progress(&Progress {
                depth,
                answer,
                nodes: limits.nodes().max(own.nodes),
                elapsed,
            });
            if self.is_decided(&known) {
                break;
            }
            depth += 1;
        }
        if known.iter().any(|found| found.depth == 0) {
            // The search stopped before these moves had a score; a static evaluation is better than
            // none.
            self.evaluate_unsearched(board, &mut known);
        }
        apply_end_values(board, &mut known);
        self.answer(&known, root)
    }

    /// Returns the legal moves outside `searched`, one of each set that is equal up to symmetry.
    pub(crate) fn others(&self, searched: &[Move]) -> Vec<Move> {
        let position = &self.question.position;
        let mut seen: BTreeSet<_> = position
            .children(searched)
            .iter()
            .map(|child| child.key)
            .collect();
        let legal = position.legal_moves();
        let children = position.children(&legal);
        legal
            .into_iter()
            .zip(children)
            .filter(|(_, child)| seen.insert(child.key))
            .map(|(m, _)| m)
            .collect()
    }

    /// Whether the best move is a proven win, or every move is proven.
    fn is_decided(&self, known: &[RootMove]) -> bool {
        known
            .first()
            .is_some_and(|best| best.score.win_plies().is_some())
            || known.iter().all(|found| found.score.is_mate())
    }

    /// Values each move that was not searched by a search of one ply.
    fn evaluate_unsearched<H: Heuristics>(&self, board: &H, known: &mut [RootMove]) {
        let unlimited = self.control.renewed();
        let limits = SearchLimits::new(&unlimited, Effort::default());
        let options = EngineOptions {
            leaf_fours: 0,
            ..*self.options
        };
        let mut search = AlphaBeta::new(board.clone(), self.table, &limits, &options);
        for found in known.iter_mut().filter(|found| found.depth == 0) {
            if let Some(RootScore {
                score,
                line,
                is_bound_to_path,
            }) = search.root_move(found.m, 1, Score::MIN, Score::MAX)
            {
                *found = RootMove {
                    m: found.m,
                    score,
                    bound: Bound::Exact,
                    line,
                    nodes: 1,
                    depth: 1,
                    is_bound_to_path,
                };
            }
        }
        order(known);
    }
}

/// Gives the moves that the search has not proven the scores of an end table. These plies are a
/// bound that may be greater, so they also keep the order that the search found.
fn apply_end_values<H: Heuristics>(board: &H, known: &mut [RootMove]) {
    let (mut board, count) = (board.clone(), known.len());
    for (rank, found) in known.iter_mut().enumerate() {
        let is_proven = !found.is_bound_to_path && found.score.is_mate();
        let Some(score) = board.end_value(found.m).filter(|_| !is_proven) else {
            continue;
        };
        let longer = |plies, places: usize| plies + 2 * places as u16;
        found.score = match (score.win_plies(), score.loss_plies()) {
            (Some(plies), _) => Score::win_in(longer(plies, rank)),
            (_, Some(plies)) => Score::loss_in(longer(plies, count - rank)),
            _ => continue,
        };
        (found.bound, found.is_bound_to_path) = (Bound::Exact, false);
    }
    order(known);
}

/// Whether an unfinished iteration has found a best move at least as good as the iteration before.
fn is_better(found: &[RootMove], known: &[RootMove]) -> bool {
    let best = |moves: &[RootMove]| moves.first().map(|best| best.score);
    found.iter().any(|found| found.bound == Bound::Exact) && best(found) >= best(known)
}

fn is_lost(known: &[RootMove]) -> bool {
    known
        .iter()
        .all(|found| found.score.loss_plies().is_some() && found.bound != Bound::Lower)
}

/// Sorts by score, exact scores first among equals, otherwise in the previous order.
fn order(found: &mut [RootMove]) {
    found.sort_by_key(|found| (std::cmp::Reverse(found.score), found.bound != Bound::Exact));
}
