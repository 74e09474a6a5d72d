//! What is known of the value of a move at a depth.

use alloc::vec::Vec;

use kagetsu_game::{Answer, Bound, Claim, Move, Proof, ProofKind, Score, Verdict};

use super::{NodeId, ROOT, Replies, Tree};

/// Bounds on a value, and the word of a worker behind the lower one.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) lower: Score,
    pub(super) upper: Score,
    pub(super) verdict: Option<Verdict>,
}

impl Facts {
    const NONE: Self = Self {
        lower: Score::MIN,
        upper: Score::MAX,
        verdict: None,
    };
}

impl Tree {
    /// Bounds on the value of a move, for who makes it, in an iteration.
    pub(super) fn bounds(&self, node: NodeId, iteration: u8) -> (Score, Score) {
        let node = &self.nodes[node];
        if let Some(proven) = &node.proven {
            return (proven.score, proven.score);
        }
        node.facts
            .get(&iteration)
            .map_or((Score::MIN, Score::MAX), |facts| (facts.lower, facts.upper))
    }

    /// A worker's word on one move.
    pub(super) fn learn(&mut self, node: NodeId, iteration: u8, verdict: Verdict) {
        self.by = Some(verdict.by.clone());
        if verdict.proof.is_some() {
            self.prove(node, verdict);
            return self.tell_all(node);
        }
        let facts = self.nodes[node]
            .facts
            .entry(iteration)
            .or_insert(Facts::NONE);
        match verdict.bound {
            Bound::Exact => (facts.lower, facts.upper) = (verdict.score, verdict.score),
            Bound::Lower => facts.lower = facts.lower.max(verdict.score),
            Bound::Upper => facts.upper = facts.upper.min(verdict.score),
        }
        if verdict.bound != Bound::Upper && facts.lower == verdict.score {
            facts.verdict = Some(verdict);
        }
        self.tell_parents(node, iteration);
    }

    /// What follows from a proof, in the iteration at work and in the one ahead of it.
    fn tell_all(&mut self, node: NodeId) {
        self.tell_parents(node, self.iteration);
        self.tell_parents(node, self.iteration + 1);
    }

    /// A fact that holds at every depth; the stronger of two stays.
    fn prove(&mut self, node: NodeId, verdict: Verdict) {
        let known = &mut self.nodes[node].proven;
        if known.as_ref().is_none_or(|known| *known < verdict) {
            *known = Some(verdict);
        }
    }

    /// What follows for a move from what is known of the replies to it.
    fn tell_parents(&mut self, node: NodeId, iteration: u8) {
        let mut child = node;
        while child != ROOT && self.nodes[child].parent != ROOT {
            let parent = self.nodes[child].parent;
            let all: Vec<_> = self
                .replies(parent)
                .iter()
                .map(|&reply| (reply, self.bounds(reply, iteration)))
                .collect();
            let least = all
                .iter()
                .map(|(_, (lower, _))| *lower)
                .max()
                .unwrap_or(Score::MIN);
            let most = all
                .iter()
                .map(|(_, (_, upper))| *upper)
                .max()
                .unwrap_or(Score::MAX);
            let best = all
                .iter()
                .find(|(_, (lower, _))| *lower == least && least > Score::MIN)
                .map(|(reply, _)| *reply);
            let facts = self.nodes[parent]
                .facts
                .entry(iteration)
                .or_insert(Facts::NONE);
            if least > Score::MIN {
                facts.upper = facts.upper.min(least.before());
            }
            // A choice of replies that all lose says nothing of the others.
            if most < Score::MAX && most.loss_plies().is_none() {
                facts.lower = facts.lower.max(most.before());
            }
            if least.win_plies().is_some()
                && let Some(verdict) = best.and_then(|best| self.refutation(parent, best))
            {
                self.prove(parent, verdict);
                self.tell_all(parent);
            }
            if let (Some(best), Replies::Known(replies)) = (best, &mut self.nodes[parent].replies)
                && let Some(at) = replies.iter().position(|&reply| reply == best)
            {
                replies[..=at].rotate_right(1);
            }
            child = parent;
        }
    }

    /// The proof that a move loses, from the reply that wins.
    fn refutation(&self, node: NodeId, reply: NodeId) -> Option<Verdict> {
        lost(self.nodes[node].m, self.nodes[reply].proven.as_ref()?)
    }

    /// What a search for threats has found after a move: who is to move wins.
    pub(super) fn learn_threat(&mut self, node: NodeId, answer: &Answer) {
        let wins =
            |verdict: &&Verdict| verdict.proof.is_some_and(|proof| proof.claim == Claim::Win);
        let Some((m, win)) = answer.best().filter(|(_, verdict)| wins(verdict)) else {
            return;
        };
        if node == ROOT {
            self.answer.extend([(m, win.clone())]);
            self.is_over = true;
        } else if let Some(verdict) = lost(self.nodes[node].m, win) {
            self.prove(node, verdict);
            self.tell_all(node);
        }
    }

    /// The value and the play that is expected, of a move whose value is known.
    pub(super) fn line(&self, node: NodeId, iteration: u8) -> Vec<Move> {
        let (lower, _) = self.bounds(node, iteration);
        let here = &self.nodes[node];
        let said = here
            .proven
            .as_ref()
            .or_else(|| here.facts.get(&iteration)?.verdict.as_ref());
        if let Some(said) = said.filter(|said| said.score == lower) {
            return said.line.clone();
        }
        let mut line = Vec::from([here.m]);
        let value = |reply: &&NodeId| {
            (
                self.bounds(**reply, iteration).0,
                core::cmp::Reverse(self.nodes[**reply].m),
            )
        };
        if let Some(&best) = self.replies(node).iter().max_by_key(value) {
            line.extend(self.line(best, iteration));
        }
        line
    }
}

/// A move loses to a reply that is proven to win.
fn lost(m: Move, reply: &Verdict) -> Option<Verdict> {
    let won = reply.proof.filter(|proof| proof.claim == Claim::Win)?;
    // Terminal is what the rules say of the position itself.
    let kind = if won.kind == ProofKind::Terminal {
        ProofKind::Search
    } else {
        won.kind
    };
    let proof = Proof {
        kind,
        ..won.before()
    };
    let line = core::iter::once(m)
        .chain(reply.line.iter().copied())
        .collect();
    Some(Verdict {
        score: proof.score(),
        bound: Bound::Exact,
        line,
        proof: Some(proof),
        ..reply.clone()
    })
}
