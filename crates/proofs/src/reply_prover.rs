//! Replies that lose to the answer to another reply.
//!
//! A book that proves a win tries every reply of the loser by a search of its own. Many replies
//! change nothing about the win against another one: they lie outside its relevance zone. This
//! finds them without a search, by the checker of certificates alone.

use std::collections::HashMap;

use anyhow::Result;
use kagetsu_book::{Entry, Place};
use kagetsu_game::{Answer, Claim, Key, Move, Position, Proof, ProofKind, Side, Variant, Verdict};
use kagetsu_search::{Control, provenance};

use crate::ProofSource;
use crate::nodes::distance;
use crate::proof_cache::ProofCache;
use crate::tree_builder::{CLAIM_POSITIONS, ProofTreeBuilder, SEARCH_POSITIONS};

/// Replies whose answers are tried on the others of a position, in one round.
const MAX_ANSWERS: usize = 6;

/// Bounds of the positions that a try of an answer on a reply in its zone may cost.
const MIN_TRY_POSITIONS: u64 = 2_000;
const MAX_TRY_POSITIONS: u64 = CLAIM_POSITIONS;

/// The same, in times of the positions that the answer to a pass cost.
const TRY_FACTOR: u64 = 2;

/// Nodes of kept trees; when there are more, all are dropped.
const MAX_KEPT_NODES: usize = 4_000_000;

/// Finds replies that lose to the answer to another reply.
pub struct ReplyProver {
    /// The variant of the positions that it looks at.
    variant: Variant,
    cache: ProofCache,
    /// Ends its searches.
    control: Control,
    /// The answered replies of each position that were tried on its other ones.
    tried: HashMap<Key, Vec<Move>>,
}

impl ReplyProver {
    /// Returns a prover for the positions of one variant; `None` for a variant without zones. A
    /// stopped `control` ends its searches.
    #[must_use]
    pub fn new(variant: Variant, control: Control) -> Option<Self> {
        let cache = ProofCache::quick(variant, SEARCH_POSITIONS, control.clone());
        cache.pool.has_zones(Side::First).then(|| Self {
            variant,
            cache,
            control,
            tried: HashMap::new(),
        })
    }

    /// Finds the replies of `loser` that lose to the answer to another reply. `found` is called for
    /// each position with such replies, as losses of kind `tree` that the book does not have yet,
    /// and may put them into the book. Each answer is tried once. A stopped control ends the
    /// search.
    ///
    /// # Errors
    /// If the book cannot be read, and the errors of `found`.
    pub fn lost_replies(
        &mut self,
        book: &dyn ProofSource,
        loser: Side,
        found: &mut dyn FnMut(Position, Answer) -> Result<()>,
    ) -> Result<()> {
        if self.cache.pool.dag.nodes().len() > MAX_KEPT_NODES {
            self.cache = ProofCache::quick(self.variant, SEARCH_POSITIONS, self.control.clone());
        }
        if !self.cache.pool.has_zones(loser.other()) {
            return Ok(());
        }
        for position in self.open_positions(book, loser)? {
            if self.control.is_stopped() {
                break;
            }
            // It may be proven by now.
            let entry = book.lookup(vec![position])?.into_iter().next().flatten();
            let Some(entry) = entry.filter(|entry| entry.derived.proof.is_none()) else {
                continue;
            };
            let answer = self.at(book, &entry)?;
            if !answer.is_empty() {
                found(entry.position, answer)?;
            }
        }
        Ok(())
    }

    /// Returns the open positions of a book in which `loser` is to move and a reply is answered,
    /// those of fewer stones first, since positions near the roots decide most.
    fn open_positions(&self, book: &dyn ProofSource, loser: Side) -> Result<Vec<Position>> {
        let mut open: Vec<Position> = Vec::new();
        let mut after = None;
        loop {
            let page = book.page(after)?;
            let Some(last) = page.last() else { break };
            after = Some(Place::of(&last.position));
            let is_open = |entry: &Entry| {
                let position = &entry.position;
                position.variant() == self.variant
                    && position.side() == loser
                    && entry.derived.proof.is_none()
                    && !answered(entry).is_empty()
            };
            let page = page.into_iter().filter(is_open);
            open.extend(page.map(|entry| entry.position));
        }
        open.sort_by_cached_key(|position| position.canonical().stones);
        Ok(open)
    }

    /// Returns the replies of one position that lose to the answer to another one.
    fn at(&mut self, book: &dyn ProofSource, entry: &Entry) -> Result<Answer> {
        let position = &entry.position;
        let mut new = answered(entry);
        if let Some(tried) = self.tried.get(&position.key()) {
            new.retain(|reply| !tried.contains(reply));
        }
        // An answer to a far reply is an answer to most.
        new.sort_by_cached_key(|reply| std::cmp::Reverse(distance(position, *reply)));
        new.truncate(MAX_ANSWERS);
        let is_open = |reply: &Move| {
            let known = entry.answer.get(*reply).and_then(|verdict| verdict.proof);
            known.is_none()
        };
        let mut left: Vec<Move> = position.distinct_moves();
        left.retain(is_open);
        let mut found = Answer::new();
        for reply in new {
            if left.is_empty() || self.control.is_stopped() {
                break;
            }
            let tried = self.tried.entry(position.key()).or_default();
            tried.push(reply);
            let next = position.play(reply)?;
            let mut builder = ProofTreeBuilder::new(book, &mut self.cache);
            // A win that is not found again within the effort is no answer.
            let Ok(answer) = builder.winner(position, reply, &next, None) else {
                continue;
            };
            let pool = &mut self.cache.pool;
            let Some(zone) = pool.zone(position, answer) else {
                continue;
            };
            let most = (pool.visited() * TRY_FACTOR).clamp(MIN_TRY_POSITIONS, MAX_TRY_POSITIONS);
            left.retain(|reply| {
                let is_outside = !zone.contains(*reply);
                let wins = is_outside
                    || !self.control.is_stopped() && pool.answers(position, *reply, answer, most);
                if wins {
                    let plies = pool.dag.plies(answer.node).saturating_add(1);
                    let proof = Proof::new(Claim::Loss, ProofKind::Tree, plies);
                    let verdict = Verdict::proven(proof, vec![*reply], 0, provenance());
                    found.extend([(*reply, verdict)]);
                }
                !wins
            });
        }
        Ok(found)
    }
}

/// Returns the replies whose loss the book has proven by positions of its own.
fn answered(entry: &Entry) -> Vec<Move> {
    let verdicts = entry.answer.verdicts().iter();
    let is_answered = |(m, verdict): &(Move, Verdict)| {
        let is_lost = |verdict: &Verdict| verdict.proof.is_some_and(|p| p.claim == Claim::Loss);
        is_lost(verdict) && !entry.facts.get(*m).is_some_and(is_lost)
    };
    verdicts
        .filter(|found| is_answered(found))
        .map(|(m, _)| *m)
        .collect()
}

#[cfg(test)]
mod tests {
    use kagetsu_book::Book;

    use kagetsu_search::threats::{ThreatClass, ThreatOutcome, ThreatSearch};

    use super::*;
    use crate::source::empty_book;

    fn verdict(m: Move, claim: Option<Proof>) -> (Move, Verdict) {
        (m, kagetsu_builders::verdict(m, claim))
    }

    #[test]
    fn answer_is_tried_on_the_other_replies() {
        let (_folder, mut book) = empty_book();
        // The first side has an open three, and the second side is to move.
        let read = |line| Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let position = read("h8 a1 i8 a3 j8");
        let opinions = position.distinct_moves().into_iter();
        let answer: Answer = opinions.map(|m| verdict(m, None)).collect();
        book.learn(&position, &answer).expect("learned");
        let prover = ReplyProver::new(Variant::STANDARD_15, Control::new());
        let mut prover = prover.expect("a variant with zones");
        let mut learn_lost = |book: &mut Book| {
            let mut lost = Vec::new();
            let mut found = |position, answer| {
                lost.push((position, answer));
                Ok(())
            };
            let ended = prover.lost_replies(book, Side::Second, &mut found);
            ended.expect("a search");
            let learned = |(position, answer): &(Position, Answer)| {
                book.learn(position, answer).expect("learned");
                answer.verdicts().len()
            };
            lost.iter().map(learned).sum::<usize>()
        };
        assert_eq!(learn_lost(&mut book), 0, "nothing is answered");

        let answered = read("h8 a1 i8 a3 j8 o15");
        let win = Proof::new(Claim::Win, ProofKind::Vct, 3);
        let k8 = answered.parse_move("k8").expect("legal");
        let won: Answer = [verdict(k8, Some(win))].into_iter().collect();
        book.learn(&answered, &won).expect("learned");
        // The same in another variant is not looked at.
        let other = |line| Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let foreign = other("h8 a1 i8 a3 j8");
        book.learn(&foreign, &answer).expect("learned");
        book.learn(&other("h8 a1 i8 a3 j8 o15"), &won)
            .expect("learned");
        let found = learn_lost(&mut book);
        let lost = |position: &Position| -> Vec<Move> {
            let entry = book.lookup(position).expect("read").expect("known");
            let verdicts = entry.answer.verdicts().iter();
            let lost = verdicts.filter(|(_, verdict)| verdict.proof.is_some());
            lost.map(|(m, _)| *m).collect()
        };
        assert_eq!(lost(&foreign).len(), 1, "only o15 is answered");
        let lost = lost(&position);
        assert_eq!(lost.len(), found + 1, "all but o15 are new");
        assert!(lost.len() > 200, "{} replies lose", lost.len());
        let mut threats = ThreatSearch::new(1 << 20);
        for reply in position.distinct_moves() {
            let next = position.play(reply).expect("legal");
            let effort = kagetsu_game::Effort::nodes(100_000);
            let search = threats.search(&next, ThreatClass::Vct, effort, &Control::new());
            let is_won = matches!(search.expect("gomoku").outcome, ThreatOutcome::Win { .. });
            let name = position.write_move(reply);
            assert!(is_won || !lost.contains(&reply), "{name} holds");
        }
        assert!(!lost.contains(&position.parse_move("k8").expect("legal")));
        assert_eq!(learn_lost(&mut book), 0, "each answer is tried once");
    }
}
