use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::{Error, Result};
use kagetsu_certificate::{Node, Reference, Zone};
use kagetsu_game::{Claim, Key, Move, Outcome, Position, Proof, ProofKind, with_game};

use crate::open_positions::{OpenPlace, OpenPosition};
use crate::proof_cache::{ANSWER_POSITIONS, ProofCache};
use crate::reply_answers::{AnswerSource, LoserReply, ReplyAnswers};
use crate::shrink::distance;

use super::{CLAIM_POSITIONS, ProofTreeBuilder, SEARCH_POSITIONS, proof_of};

/// The number of known plans to try as an answer before searching for a new one.
const TRIED: usize = 6;
/// Positions that a zone may cost.
const ZONE_POSITIONS: u64 = 200_000;

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
            let dag = &self.cache.dag;
            let guide = guide.and_then(|guide| dag.answer(position.variant(), guide, at));
            LoserReply {
                source,
                at,
                next,
                guide,
            }
        });
        let mut replies: Vec<LoserReply> = replies.collect();
        replies.sort_by_cached_key(|reply| {
            let is_last = reply.source == AnswerSource::OtherReply;
            (is_last, Reverse(distance(position, reply.at)))
        });
        if let Some(rest) = replies.get_mut(1..) {
            rest.sort_by_key(|reply| {
                let guide = reply.guide;
                let is_quiet = guide.is_some_and(|guide| self.cache.is_quiet(guide));
                (reply.source, !is_quiet)
            });
        }
        Ok(replies)
    }

    /// Returns the node of a move `at` to a position, with an answer to every legal move of the
    /// loser.
    pub(super) fn answers(
        &mut self,
        at: Option<Move>,
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<Node> {
        let mut answers = ReplyAnswers::new(position);
        let left = self.replies(position, guide)?;
        let in_book = left
            .iter()
            .filter(|reply| reply.source == AnswerSource::Book);
        let in_book: Vec<(Move, Position)> = in_book
            .map(|reply| (reply.at, reply.next.clone()))
            .collect();
        let mut open: Option<OpenPosition> = None;
        for reply in left {
            let mut known = self.answered(&answers, &reply, TRIED, ANSWER_POSITIONS);
            if known.is_none() && reply.source == AnswerSource::OtherReply {
                known = self.answered(&answers, &reply, usize::MAX, CLAIM_POSITIONS);
                if known.is_none() {
                    known = self.answer_again(&mut answers, &in_book, reply.at)?;
                }
            }
            let answer = match known {
                Some(answer) => Ok(answer),
                None => self.new_answer(&mut answers, &reply),
            };
            match answer.map_err(Error::downcast::<OpenPosition>) {
                Ok(answer) => answers.add(reply.at, answer),
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
        let most = answers.known.first().map(|known| known.node);
        let mut replies = answers.replies;
        replies.sort_by_key(|(reply, _)| *reply);
        replies.retain(|(_, answer)| Some(*answer) != most);
        Ok(Node {
            at,
            replies,
            otherwise: most,
        })
    }

    /// Grows the answers to the replies that the book knows again, as they were when it learned
    /// that a reply loses to one of them, and returns the one that answers this reply too.
    fn answer_again(
        &mut self,
        answers: &mut ReplyAnswers<'_>,
        in_book: &[(Move, Position)],
        reply: Move,
    ) -> Result<Option<Reference>> {
        let position = answers.position;
        let variant = position.variant();
        if self.cache.by_stones.is_none() {
            return Ok(None);
        }
        let cache = match &mut self.cache.again {
            Some(cache) => cache,
            again => {
                let control = self.cache.control.clone();
                let cache = ProofCache::quick(variant, SEARCH_POSITIONS, control)?;
                again.insert(Box::new(cache))
            }
        };
        for (known, next) in in_book {
            let mut builder = ProofTreeBuilder::new(self.book, cache);
            // A win that is not found again within the effort is no answer.
            let Ok(answer) = builder.winner(position, *known, next, None) else {
                continue;
            };
            if cache.wins(position, reply, answer, CLAIM_POSITIONS) {
                let root = cache.dag.upright(variant, answer);
                let tree = cache.dag.tree(root, next.clone(), Claim::Win);
                let node = self.cache.dag.load(&tree);
                let answer = self.cache.place(next, node);
                answers.know(answer, None, || self.zone(position, answer));
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Returns a new answer to a reply, and notes its zone.
    fn new_answer(
        &mut self,
        answers: &mut ReplyAnswers<'_>,
        reply: &LoserReply,
    ) -> Result<Reference> {
        let position = answers.position;
        let answer = self.winner(position, reply.at, &reply.next, reply.guide)?;
        answers.know(answer, reply.guide, || self.zone(position, answer));
        Ok(answer)
    }

    /// Returns the points that matter to an answer after a pass of the loser, who is to move.
    pub(crate) fn zone(&mut self, position: &Position, answer: Reference) -> Option<Zone> {
        let ProofCache { dag, zones, .. } = &mut *self.cache;
        zones
            .as_mut()?
            .after_pass(&*dag, position, answer, ZONE_POSITIONS)
    }

    /// Returns an answer to other replies that answers this one too: first the one to replies for
    /// which the guide has the same answer, then the most used. `tries` bounds the answers, and
    /// `positions` the cost of each.
    fn answered(
        &mut self,
        answers: &ReplyAnswers<'_>,
        reply: &LoserReply,
        tries: usize,
        positions: u64,
    ) -> Option<Reference> {
        let mut outside = answers
            .known
            .iter()
            .filter(|known| known.zone.is_some_and(|zone| !zone.contains(reply.at)));
        if let Some(known) = outside.next() {
            return Some(known.node);
        }
        let next = &reply.next;
        let is_alike = |guide: Option<Reference>| guide.is_some() && guide == reply.guide;
        let (alike, others): (Vec<_>, Vec<_>) = answers
            .known
            .iter()
            .partition(|known| is_alike(known.guide));
        let known = alike.into_iter().chain(others).map(|known| known.node);
        let ProofCache {
            dag, plans, zones, ..
        } = &mut *self.cache;
        if let Some(zones) = zones {
            let mut tried = known.take(tries);
            return tried.find(|answer| zones.wins(&*dag, next, *answer, positions));
        }
        let wins = |answer: &Reference| with_game!(next.variant(), G => dag.wins(&mut next.game::<G>(), *answer));
        known
            .filter(|answer| plans.contains(&answer.node))
            .take(tries)
            .find(wins)
    }
}
