//! One iteration over the root moves.

use std::collections::VecDeque;

use kagetsu_game::{Bound, Score};
use rayon::prelude::*;

use super::kth_best::KthBest;
use super::{RootMove, RootSearch};
use crate::ThreadSplit;
use crate::alphabeta::{AlphaBeta, RootScore, selection};
use crate::control::limits::SearchLimits;
use crate::heuristics::Heuristics;

impl RootSearch<'_> {
    /// Searches the root moves to one depth, as many as the limits allow.
    pub(super) fn iterate<H: Heuristics + Sync>(
        &self,
        board: &H,
        own: &mut AlphaBeta<H>,
        known: &[RootMove],
        depth: u8,
        limits: &SearchLimits,
    ) -> Vec<RootMove> {
        let width = self.width().min(known.len());
        let kth = KthBest::new(self.window().alpha, width);
        let mut one = |at: usize| self.root_move(own, &known[at], at, depth, &kth);
        match self
            .pool
            .filter(|_| self.options.split == ThreadSplit::Seeded)
        {
            None if limits.control().exchange().is_some() => {
                self.take_turns(own, known, depth, limits, &kth)
            }
            None => (0..known.len()).map_while(one).collect(),
            // The best moves so far are searched before the others share their bound.
            Some(pool) => {
                let mut all: Vec<RootMove> = (0..width).map_while(&mut one).collect();
                if all.len() == width {
                    let search = |at: usize| {
                        let mut search =
                            AlphaBeta::new(board.clone(), self.table, limits, self.options);
                        self.root_move(&mut search, &known[at], at, depth, &kth)
                    };
                    let rest = pool.install(|| {
                        (width..known.len())
                            .into_par_iter()
                            .with_max_len(1)
                            .map(search)
                            .collect()
                    });
                    all.extend(Option::<Vec<_>>::unwrap_or_default(rest));
                }
                all
            }
        }
    }

    /// Searches the root moves to one depth beside other engines: moves that another engine is
    /// searching come last.
    fn take_turns<H: Heuristics + Sync>(
        &self,
        own: &mut AlphaBeta<H>,
        known: &[RootMove],
        depth: u8,
        limits: &SearchLimits,
        kth: &KthBest,
    ) -> Vec<RootMove> {
        let width = self.width().min(known.len());
        let exchange = limits.control().exchange();
        let mut found: Vec<(usize, RootMove)> = Vec::with_capacity(known.len());
        let (mut waiting, mut deferred): (VecDeque<usize>, VecDeque<usize>) =
            ((0..known.len()).collect(), VecDeque::new());
        while let Some((at, is_again)) = waiting
            .pop_front()
            .map(|at| (at, false))
            .or_else(|| deferred.pop_front().map(|at| (at, true)))
        {
            own.board.play(known[at].m);
            let key = own.key(i32::from(depth) - 1);
            own.board.undo();
            let exchange = exchange.filter(|_| at >= width);
            if exchange.is_some_and(|exchange| !is_again && exchange.is_busy(key)) {
                deferred.push_back(at);
                continue;
            }
            exchange
                .into_iter()
                .for_each(|exchange| exchange.search_started(key));
            let Some(result) = self.root_move(own, &known[at], at, depth, kth) else {
                break;
            };
            exchange
                .into_iter()
                .for_each(|exchange| exchange.search_ended(key));
            found.push((at, result));
        }
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, found)| found).collect()
    }

    /// Searches the root move at place `at` of the order.
    pub(super) fn root_move<H: Heuristics>(
        &self,
        search: &mut AlphaBeta<H>,
        found: &RootMove,
        at: usize,
        depth: u8,
        kth: &KthBest,
    ) -> Option<RootMove> {
        let (before, beta) = (search.nodes, self.window().beta);
        // Once a move has passed beta, the others are only asked whether they do.
        let below = Score::from_raw(beta.raw() - 1).unwrap_or(Score::MIN);
        let alpha = kth.score().min(below);
        let above = Score::from_raw(alpha.raw() + 1).filter(|&above| above < beta && kth.is_full());
        let reduced = if above.is_some() && search.options.selective {
            selection::at_root(depth, at, search.board.force(found.m), &H::STYLE)
        } else {
            depth
        };
        let mut result = RootScore {
            score: Score::MAX,
            line: Vec::new(),
            is_bound_to_path: false,
        };
        for (depth, beta) in [
            (reduced, above),
            (depth, above.filter(|_| reduced < depth)),
            (depth, Some(beta)),
        ] {
            if let Some(beta) = beta.filter(|_| result.score > alpha) {
                result = search.root_move(found.m, depth, alpha, beta)?;
            }
        }
        let RootScore {
            score,
            line,
            is_bound_to_path,
        } = result;
        let bound = match score {
            _ if score <= alpha && alpha > Score::MIN => Bound::Upper,
            _ if score >= beta => Bound::Lower,
            _ => Bound::Exact,
        };
        if bound != Bound::Upper {
            kth.raise(score);
        }
        let nodes = found.nodes + search.nodes - before;
        Some(RootMove {
            m: found.m,
            score,
            bound,
            line,
            nodes,
            depth,
            is_bound_to_path,
        })
    }
}
