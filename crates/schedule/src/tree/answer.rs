//! What the bounds say of the whole position.

use alloc::vec::Vec;
use core::cmp::Reverse;

use kagetsu_game::{Answer, Bound, Score, Verdict, Window};

use super::{NodeId, ROOT, Replies, Tree};

impl Tree {
    pub(super) fn width(&self) -> usize {
        usize::from(self.question.width.max(1))
    }

    /// The window asked for, but no mate is beyond it: a bound that is a mate would be a proof of nothing.
    pub(super) fn window(&self) -> Window {
        let Window { alpha, beta } = self.question.window;
        Window {
            alpha: alpha.min(Score::OPINION_MAX),
            beta: beta.max(-Score::OPINION_MAX),
        }
    }

    /// The moves whose value is known, best first, each with its place in the order; of equal ones the earlier first.
    pub(super) fn ranking(&self, iteration: u8) -> Vec<(Score, usize)> {
        let Window { alpha, beta } = self.window();
        let known = self
            .replies(ROOT)
            .iter()
            .enumerate()
            .filter_map(|(at, &child)| {
                let (lower, upper) = self.bounds(child, iteration);
                ((lower >= upper || lower >= beta) && lower > alpha).then_some((lower, at))
            });
        let mut ranking: Vec<_> = known.collect();
        ranking.sort_by_key(|&(score, at)| (Reverse(score), at));
        ranking
    }

    /// What the value that matters may be in an iteration: what it was when the same side moved last.
    pub(super) fn guess(&self, iteration: u8) -> Option<Score> {
        let Window { alpha, beta } = self.window();
        let value = *self.values.get(&iteration.checked_sub(2)?)?;
        (alpha < value && value < beta && !value.is_mate()).then_some(value)
    }

    /// Whether a node's value is being put together from those of the replies.
    pub(super) fn is_divided(&self, node: NodeId, iteration: u8) -> bool {
        let replies = self.replies(node);
        let is_known = |&child: &NodeId| self.nodes[child].facts.contains_key(&iteration);
        let may_hold = |&child: &NodeId| self.bounds(child, iteration).1.loss_plies().is_none();
        replies.iter().any(is_known) && (node == ROOT || replies.iter().any(may_hold))
    }

    /// One worker's word on all moves.
    pub(super) fn learn_all(&mut self, iteration: u8, answer: Answer) {
        if iteration != self.iteration || self.is_over {
            return;
        }
        let children: Vec<NodeId> = self.replies(ROOT).to_vec();
        let mut order = Vec::with_capacity(answer.len());
        for (m, verdict) in answer.verdicts() {
            let known = children
                .iter()
                .copied()
                .find(|&child| self.nodes[child].m == *m);
            let child = known.unwrap_or_else(|| self.add(ROOT, *m, 1));
            self.nodes[child].home = self.nodes[ROOT].home;
            let spent = self.nodes[child].spent.entry(iteration).or_default();
            *spent = spent.saturating_add(verdict.nodes);
            self.learn(child, iteration, verdict.clone());
            order.push(child);
        }
        order.extend(
            children
                .into_iter()
                .filter(|&child| answer.get(self.nodes[child].m).is_none()),
        );
        self.nodes[ROOT].replies = Replies::Known(order);
        self.is_desperate = false;
        self.complete(answer);
    }

    /// Goes to the next iteration as long as the one at work is complete.
    pub(super) fn advance(&mut self) {
        while !self.is_over && self.is_complete() {
            let ranking = self.ranking(self.iteration);
            let lost =
                |&child: &NodeId| self.bounds(child, self.iteration).1.loss_plies().is_some();
            if self.question.moves.is_empty() && self.replies(ROOT).iter().all(lost) {
                self.is_desperate = true;
                return;
            }
            let answer = self.collect(&ranking);
            let mut order: Vec<NodeId> = self.replies(ROOT).to_vec();
            let firsts: Vec<NodeId> = ranking
                .iter()
                .take(self.width())
                .map(|&(_, at)| order[at])
                .collect();
            order.retain(|child| !firsts.contains(child));
            self.nodes[ROOT].replies = Replies::Known(firsts.into_iter().chain(order).collect());
            self.complete(answer);
        }
    }

    /// Whether every move of the iteration at work is known as well as it must be.
    fn is_complete(&self) -> bool {
        let children = self.replies(ROOT);
        let Window { alpha, beta } = self.window();
        if children.is_empty() || self.is_desperate {
            return false;
        }
        let ranking = self.ranking(self.iteration);
        if ranking
            .first()
            .is_some_and(|(best, _)| best.win_plies().is_some())
        {
            return true;
        }
        let last = ranking.get(self.width() - 1).copied();
        children.iter().enumerate().all(|(at, &child)| {
            let (lower, upper) = self.bounds(child, self.iteration);
            let bound = last.map_or(alpha, |(value, place)| {
                if at > place {
                    value
                } else {
                    Score::from_raw(value.raw() - 1).unwrap_or(value)
                }
            });
            lower >= upper || lower >= beta || upper <= bound.max(alpha)
        })
    }

    /// The answer of the iteration at work: the best moves with their values, the others with the bound that follows.
    fn collect(&self, ranking: &[(Score, usize)]) -> Answer {
        let children = self.replies(ROOT);
        let best: Vec<usize> = ranking
            .iter()
            .take(self.width())
            .map(|&(_, at)| at)
            .collect();
        let bound = ranking
            .get(self.width() - 1)
            .map_or(self.window().alpha, |&(value, _)| value);
        let mut verdicts = Vec::with_capacity(children.len());
        for (at, &child) in children.iter().enumerate() {
            let node = &self.nodes[child];
            let nodes = node.spent.values().copied().fold(0, u64::saturating_add);
            if let Some(proven) = &node.proven {
                verdicts.push((
                    node.m,
                    Verdict {
                        nodes,
                        ..proven.clone()
                    },
                ));
                continue;
            }
            let (lower, upper) = self.bounds(child, self.iteration);
            let Some(by) = self.by.clone() else { continue };
            let (score, bound, line) = if best.contains(&at) {
                let bound = if lower >= upper {
                    Bound::Exact
                } else {
                    Bound::Lower
                };
                (lower, bound, self.line(child, self.iteration))
            } else if bound > Score::OPINION_MAX {
                // Nothing is known of a move beside a proven win, but that it wins no sooner.
                continue;
            } else {
                (bound, Bound::Upper, Vec::new())
            };
            verdicts.push((
                node.m,
                Verdict {
                    score,
                    bound,
                    depth: self.iteration,
                    nodes,
                    line,
                    proof: None,
                    by,
                },
            ));
        }
        verdicts.into_iter().collect()
    }

    /// An iteration is complete.
    fn complete(&mut self, answer: Answer) {
        let is_won = answer
            .best()
            .is_some_and(|(_, verdict)| verdict.score.win_plies().is_some());
        let is_decided = is_won
            || answer
                .verdicts()
                .iter()
                .all(|(_, verdict)| verdict.score.is_mate());
        if let Some((_, last)) = answer.verdicts().get(self.width() - 1) {
            self.values.insert(self.iteration, last.score);
        }
        self.answer = answer;
        self.is_over = is_decided || self.iteration >= self.deepest();
        if !self.is_over {
            self.iteration += 1;
        }
        for node in &mut self.nodes {
            // What is older than two iterations has served.
            node.facts = node.facts.split_off(&self.iteration.saturating_sub(2));
        }
    }

    /// What is known by now, if it must end: the last complete iteration, or what is better of the one at work.
    pub(crate) fn so_far(&self) -> Answer {
        let mut answer = self.answer.clone();
        let ranking = self.ranking(self.iteration);
        let least = answer
            .best()
            .map_or(Score::MIN, |(_, verdict)| verdict.score);
        let better = ranking
            .iter()
            .take_while(|(value, _)| *value >= least)
            .map(|&(_, at)| at);
        for at in better.take(if self.is_over { 0 } else { self.width() }) {
            let child = self.replies(ROOT)[at];
            let (m, score) = (self.nodes[child].m, self.bounds(child, self.iteration).0);
            if let Some(before) = answer.get(m).cloned() {
                let line = self.line(child, self.iteration);
                let depth = self.iteration;
                answer.extend([(
                    m,
                    Verdict {
                        score,
                        bound: Bound::Exact,
                        depth,
                        line,
                        ..before
                    },
                )]);
            }
        }
        answer
    }

    /// The answer, when it is there.
    pub(crate) fn take_answer(&mut self) -> Answer {
        core::mem::take(&mut self.answer)
    }
}
