use std::collections::BTreeSet;

use anyhow::{Error, Result};
use kagetsu_certificate::Reference;
use kagetsu_game::{Claim, Key, Move, Outcome, Position, Proof, ProofKind};

use crate::nodes::{AnswerSource, LoserReply, ReplyAnswers, TRY_POSITIONS};
use crate::open_positions::{OpenPlace, OpenPosition};
use crate::proof_cache::ProofCache;

use super::{CLAIM_POSITIONS, ProofTreeBuilder, SEARCH_POSITIONS, proof_of};

/// The number of known plans to try as an answer before searching for a new one.
const MAX_TRIES: usize = 6;
/// The replies of an answer up to which others take its place where a tree is made smaller.
const MAX_MOVED_REPLIES: usize = 4;

impl ProofTreeBuilder<'_> {
    /// Returns the positions after the replies that the book counts as lost because the answer to
    /// another reply wins.
    fn lost_by_other_answers(&self, position: &Position) -> Result<BTreeSet<Key>> {
        let mut lost = BTreeSet::new();
        if let Some(entry) = self.entry(position)? {
            for (reply, verdict) in entry.facts.verdicts() {
                let is_tree = |proof: Proof| proof.kind == ProofKind::Tree;
                if verdict.proof.is_some_and(is_tree) {
                    lost.insert(position.play(*reply)?.key());
                }
            }
        }
        Ok(lost)
    }

    /// Returns the legal moves of the loser that do not end the game: first the one farthest from
    /// all stones, which is like a pass, so that its answer is the answer to most. Then come the
    /// replies that the book knows, so that the search for the others stays at one position.
    fn replies(
        &mut self,
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<Vec<LoserReply>> {
        let mut open = Vec::new();
        for reply in position.legal_moves() {
            let next = position.play(reply)?;
            if next.outcome() != Some(Outcome::Win(position.side().other())) {
                open.push((reply, next));
            }
        }
        let entries = self
            .book
            .lookup(open.iter().map(|(_, next)| next.clone()).collect())?;
        let claimed = self.lost_by_other_answers(position)?;
        let replies = entries.iter().zip(open).map(|(entry, (at, next))| {
            let is_known = entry.as_ref().and_then(proof_of).is_some();
            let source = match (is_known, claimed.contains(&next.key())) {
                (true, _) => AnswerSource::Book,
                (false, false) => AnswerSource::Search,
                (false, true) => AnswerSource::OtherReply,
            };
            let pool = &self.cache.pool;
            let guide = guide.and_then(|guide| pool.answer(guide, at));
            let guide = guide.or_else(|| self.cache.guides.get(&next));
            LoserReply {
                source,
                at,
                next,
                guide,
            }
        });
        let mut replies: Vec<LoserReply> = replies.collect();
        self.cache.pool.sort(position, &mut replies);
        Ok(replies)
    }

    /// Returns the node of a move `at` to a position, with an answer to every legal move of the
    /// loser.
    pub(super) fn answers(
        &mut self,
        at: Option<Move>,
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<u32> {
        let mut answers = ReplyAnswers::default();
        let left = self.replies(position, guide)?;
        let in_book = left
            .iter()
            .filter(|reply| reply.source == AnswerSource::Book);
        let in_book: Vec<(Move, Position)> = in_book
            .map(|reply| (reply.at, reply.next.clone()))
            .collect();
        let mut open: Option<OpenPosition> = None;
        for reply in left {
            let pool = &mut self.cache.pool;
            let mut known = answers.find(pool, &reply, MAX_TRIES, TRY_POSITIONS);
            if known.is_none() && reply.source == AnswerSource::OtherReply {
                known = answers.find(pool, &reply, usize::MAX, CLAIM_POSITIONS);
                if known.is_none() {
                    known = self.answer_again(position, &in_book, reply.at)?;
                }
            }
            let answer = match known {
                Some(answer) => Ok(answer),
                None => self.winner(position, reply.at, &reply.next, reply.guide),
            };
            match answer.map_err(Error::downcast::<OpenPosition>) {
                Ok(answer) => {
                    let pool = &mut self.cache.pool;
                    answers.know(answer, reply.guide, || pool.zone(position, answer));
                    answers.add(reply.at, answer);
                }
                Err(Ok(error)) if self.open.is_some() => {
                    // A position that was tried in vain decides about this one.
                    let is_tried = error.place == OpenPlace::Tried;
                    if open.is_none() || is_tried {
                        open = Some(error);
                    }
                }
                Err(Ok(error)) => return Err(error.into()),
                Err(Err(other)) => return Err(other),
            }
        }
        if let Some(open) = open {
            return Err(open.into());
        }
        let pool = &mut self.cache.pool;
        if self.cache.trusts_guides && pool.has_zones(position.side().other()) {
            answers.join(pool, position, MAX_MOVED_REPLIES, TRY_POSITIONS);
        }
        Ok(pool.dag.add(answers.into_node(at)))
    }

    /// Grows the answers to the replies that the book knows again, as they were when it learned
    /// that a reply loses to one of them, and returns the one that answers this reply too.
    fn answer_again(
        &mut self,
        position: &Position,
        in_book: &[(Move, Position)],
        reply: Move,
    ) -> Result<Option<Reference>> {
        let variant = position.variant();
        if !self.cache.pool.tries_nodes(position.side().other()) {
            return Ok(None);
        }
        let cache = match &mut self.cache.again {
            Some(cache) => cache,
            again => {
                let control = self.cache.control.clone();
                let cache = ProofCache::quick(variant, SEARCH_POSITIONS, control);
                again.insert(Box::new(cache))
            }
        };
        for (known, next) in in_book {
            let mut builder = ProofTreeBuilder::new(self.book, cache);
            // A win that is not found again within the effort is no answer.
            let Ok(answer) = builder.winner(position, *known, next, None) else {
                continue;
            };
            if cache.pool.answers(position, reply, answer, CLAIM_POSITIONS) {
                let root = cache.pool.upright(answer);
                let tree = cache.pool.dag.tree(root, next.clone(), Claim::Win);
                let node = Reference::to(self.cache.pool.dag.load(&tree));
                return Ok(Some(self.cache.pool.note(next, node)));
            }
        }
        Ok(None)
    }
}
