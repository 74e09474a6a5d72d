//! Replies that lose to the answer to another reply.
//!
//! A book that proves a win tries every reply of the loser by a search of its own. Many replies
//! change nothing about the win against another one: they lie outside its relevance zone. This
//! finds them without a search, by the checker of certificates alone.

use std::collections::HashMap;

use anyhow::Result;
use kagetsu_book::{Book, Entry};
use kagetsu_game::{
    Answer, Bound, Claim, Key, Move, Position, Proof, ProofKind, Side, Variant, Verdict,
};
use kagetsu_search::provenance;
use kagetsu_verify::{Reference, ZoneChecker};

use super::win_tree::{Forester, ProofCache, distance};

/// Replies whose answers are tried on the others of a position, in one round.
const MAX_ANSWERS: usize = 6;

/// Bounds of the positions that a try of an answer on a reply in its zone may cost.
const MIN_TRY_POSITIONS: u64 = 2_000;
const MAX_TRY_POSITIONS: u64 = 20_000;

/// The same, in times of the positions that the answer to a pass cost.
const TRY_FACTOR: u64 = 2;

/// Positions that the search for the way in which a claim of the book wins may visit.
const SEARCH_POSITIONS: u64 = 400_000;

/// Finds replies that lose to the answer to another reply.
pub(crate) struct SiblingProver {
    /// The variant of the positions that it looks at.
    variant: Variant,
    cache: ProofCache,
    /// The answered replies of each position that were tried on its other ones.
    tried: HashMap<Key, Vec<Move>>,
}

/// Replies that are newly known to lose at a position.
type Claims = Vec<(Position, Answer)>;

impl SiblingProver {
    /// Returns a prover for the positions of one variant; `None` for a variant without zones.
    ///
    /// # Errors
    /// If there is no memory for its searches.
    pub(crate) fn new(variant: Variant) -> Result<Option<Self>> {
        let cache = ProofCache::quick(variant, SEARCH_POSITIONS)?;
        Ok(cache.zones.is_some().then(|| Self {
            variant,
            cache,
            tried: HashMap::new(),
        }))
    }

    /// Adds to the book the replies of `loser` that lose to the answer to another reply, until none
    /// is found or `is_over`. Returns their number.
    pub(crate) fn spread(
        &mut self,
        book: &mut Book,
        loser: Side,
        is_over: &dyn Fn() -> bool,
    ) -> Result<usize> {
        let mut found = 0;
        loop {
            let claims = self.claims(book, loser, is_over)?;
            let new: usize = claims
                .iter()
                .map(|(_, answer)| answer.verdicts().len())
                .sum();
            for (position, answer) in &claims {
                book.learn(position, answer)?;
            }
            found += new;
            if new == 0 || is_over() {
                return Ok(found);
            }
        }
    }

    fn claims(&mut self, book: &Book, loser: Side, is_over: &dyn Fn() -> bool) -> Result<Claims> {
        let mut open: Vec<Entry> = Vec::new();
        for entry in book.positions() {
            let entry = entry?;
            let position = &entry.position;
            let is_open = position.variant() == self.variant
                && position.side() == loser
                && entry.derived.proof.is_none();
            if is_open && !answered(&entry).is_empty() {
                open.push(entry);
            }
        }
        // Positions near the roots decide most.
        open.sort_by_cached_key(|entry| entry.position.canonical().stones);
        let mut claims = Vec::new();
        for entry in open {
            if is_over() {
                break;
            }
            let answer = self.at(book, &entry, is_over)?;
            if !answer.is_empty() {
                claims.push((entry.position, answer));
            }
        }
        Ok(claims)
    }

    /// Returns the replies of one position that lose to the answer to another one.
    fn at(&mut self, book: &Book, entry: &Entry, is_over: &dyn Fn() -> bool) -> Result<Answer> {
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
            if left.is_empty() || is_over() {
                break;
            }
            let tried = self.tried.entry(position.key()).or_default();
            tried.push(reply);
            let next = position.play(reply)?;
            let mut forester = Forester {
                book,
                cache: &mut self.cache,
            };
            // A win that is not found again within the effort is no answer.
            let Ok(answer) = forester.winner(position, reply, &next) else {
                continue;
            };
            let Some(zone) = forester.zone(position, answer) else {
                continue;
            };
            let zones = self.cache.zones.as_ref();
            let visited = zones.map_or(0, ZoneChecker::visited);
            let most = (visited * TRY_FACTOR).clamp(MIN_TRY_POSITIONS, MAX_TRY_POSITIONS);
            left.retain(|reply| {
                let is_outside = !zone.contains(*reply);
                let wins =
                    is_outside || !is_over() && self.cache.wins(position, *reply, answer, most);
                if wins {
                    found.extend([(*reply, self.cache.verdict(*reply, answer))]);
                }
                !wins
            });
        }
        Ok(found)
    }
}

impl ProofCache {
    fn wins(&mut self, position: &Position, reply: Move, answer: Reference, most: u64) -> bool {
        let Self { dag, zones, .. } = self;
        match (position.play(reply), zones) {
            (Ok(next), Some(zones)) if next.outcome().is_none() => {
                zones.wins(dag, &next, answer, most)
            }
            _ => false,
        }
    }

    /// Returns the verdict of a reply that loses to a known answer.
    fn verdict(&self, reply: Move, answer: Reference) -> Verdict {
        let proof = Proof {
            claim: Claim::Loss,
            kind: ProofKind::Tree,
            plies: self.dag.plies(answer.node).saturating_add(1),
        };
        Verdict {
            score: proof.score(),
            bound: Bound::Exact,
            depth: u8::try_from(proof.plies).unwrap_or(u8::MAX),
            nodes: 0,
            line: vec![reply],
            proof: Some(proof),
            by: provenance(),
        }
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
    use kagetsu_book::BookOptions;
    use kagetsu_game::{Provenance, Score};
    use kagetsu_search::Control;
    use kagetsu_search::threats::{ThreatClass, ThreatOutcome, ThreatSearch};

    use super::*;

    fn verdict(m: Move, claim: Option<Proof>) -> (Move, Verdict) {
        let verdict = Verdict {
            score: claim.map_or(Score::opinion(0), Proof::score),
            bound: Bound::Exact,
            depth: 1,
            nodes: 1,
            line: vec![m],
            proof: claim,
            by: Provenance {
                engine: "test".into(),
                day: 0,
            },
        };
        (m, verdict)
    }

    #[test]
    fn answer_is_tried_on_the_other_replies() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
        // The first side has an open three, and the second side is to move.
        let read = |line| Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let position = read("h8 a1 i8 a3 j8");
        let opinions = position.distinct_moves().into_iter();
        let answer: Answer = opinions.map(|m| verdict(m, None)).collect();
        book.learn(&position, &answer).expect("learned");
        let siblings = SiblingProver::new(Variant::STANDARD_15).expect("an engine");
        let mut siblings = siblings.expect("a variant with zones");
        let mut spread = |book: &mut Book| siblings.spread(book, Side::Second, &|| false);
        assert_eq!(
            spread(&mut book).expect("a search"),
            0,
            "nothing is answered"
        );

        let answered = read("h8 a1 i8 a3 j8 o15");
        let win = Proof {
            claim: Claim::Win,
            kind: ProofKind::Vct,
            plies: 3,
        };
        let k8 = answered.parse_move("k8").expect("legal");
        let won: Answer = [verdict(k8, Some(win))].into_iter().collect();
        book.learn(&answered, &won).expect("learned");
        // The same in another variant is not looked at.
        let other = |line| Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let foreign = other("h8 a1 i8 a3 j8");
        book.learn(&foreign, &answer).expect("learned");
        book.learn(&other("h8 a1 i8 a3 j8 o15"), &won)
            .expect("learned");
        let found = spread(&mut book).expect("a search");
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
        assert_eq!(
            spread(&mut book).expect("a search"),
            0,
            "each answer is tried once"
        );
    }
}
