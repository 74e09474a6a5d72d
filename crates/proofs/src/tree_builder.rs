//! Win trees of a book's proofs, in which the wins found by search are played out.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, bail};
use kagetsu_book::Entry;
use kagetsu_game::{
    Claim, Effort, Game, Key, Move, Outcome, Position, Proof, ProofKind, Question, Symmetry,
    with_game,
};
use kagetsu_search::threats::Strategy;
use kagetsu_verify::{Node, ProofDag, Reference, Tree, Zone, distance};

use crate::ProofSource;
use crate::proof_cache::{ANSWER_POSITIONS, ProofCache};

/// The number of known plans to try as an answer before searching for a new one.
const TRIED: usize = 6;
/// Positions that a zone may cost.
const ZONE_POSITIONS: u64 = 200_000;
/// Positions that a known answer may cost for a reply that the book counts as lost because such an
/// answer wins.
pub(crate) const CLAIM_POSITIONS: u64 = 20_000;
/// Positions that the search for the way in which a claim of the book wins may visit.
pub(crate) const SEARCH_POSITIONS: u64 = 400_000;

/// The share of the search of a position that the search of each further image may cost.
const IMAGE_SHARE: u64 = 16;

/// The size of a win tree, counted in two ways.
#[derive(Clone, Copy, Debug)]
pub struct TreeSize {
    /// Nodes of the tree.
    pub nodes: u64,
    /// Positions of the book with the winner to move, up to symmetry; the rest of the tree are
    /// wins by threats alone.
    pub positions: u64,
}

impl fmt::Display for TreeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, positions } = self;
        write!(
            f,
            "{nodes} nodes; {positions} positions lead to wins by threats alone"
        )
    }
}

/// The answers to the replies at one position.
struct ReplyAnswers<'a> {
    position: &'a Position,
    replies: Vec<(Move, Reference)>,
    /// Each answer with the number of its replies and its zone after a pass.
    known: Vec<(Reference, usize, Option<Zone>)>,
}

/// Where the answer to a reply comes from, in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AnswerSource {
    Book,
    Search,
    /// The book counts the reply as lost because the answer to another one wins.
    OtherReply,
}

impl ReplyAnswers<'_> {
    fn add(&mut self, reply: Move, answer: Reference) {
        self.replies.push((reply, answer));
        if let Some((_, count, _)) = self.known.iter_mut().find(|(at, ..)| *at == answer) {
            *count += 1;
        }
        self.known
            .sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    }
}

/// Grows trees from the proofs of a book.
pub struct ProofTreeBuilder<'a> {
    book: &'a dyn ProofSource,
    cache: &'a mut ProofCache,
}

impl<'a> ProofTreeBuilder<'a> {
    /// Returns a builder of trees of a book.
    pub const fn new(book: &'a dyn ProofSource, cache: &'a mut ProofCache) -> Self {
        Self { book, cache }
    }

    /// Returns the win tree of a position, and its size.
    ///
    /// # Errors
    /// If the book has proven no win of it, if a win is not found again, or if the book cannot be
    /// read.
    pub fn tree(&mut self, position: &Position) -> Result<(Tree, TreeSize)> {
        let given = self.cache.known(position);
        let proof = self.proof(position)?;
        let claim = match (given, proof) {
            (Some(_), _) => Some(Claim::Win),
            (None, Some(proof)) => Some(proof.claim),
            // Trees of all replies may be given.
            (None, None) => self.cache.has_parts.then_some(Claim::Loss),
        };
        let root = match (given, claim) {
            (Some(given), _) => self.cache.dag.upright(position.variant(), given),
            (_, Some(Claim::Win)) => self.node(position)?,
            (_, Some(Claim::Loss)) => {
                let root = self.answers(None, position)?;
                self.cache.dag.add(root)
            }
            (_, Some(Claim::Draw) | None) => {
                bail!(
                    "the book has proven no win of {position}; `kagetsu build --policy prove` looks for one"
                )
            }
        };
        let claim = claim.unwrap_or(Claim::Win);
        let tree = self.cache.dag.tree(root, position.clone(), claim);
        let size = TreeSize {
            nodes: tree.nodes().len() as u64,
            positions: self.cache.known.len() as u64,
        };
        Ok((tree, size))
    }

    fn entry(&self, position: &Position) -> Result<Option<Entry>> {
        let found = self.book.lookup(vec![position.clone()])?;
        Ok(found.into_iter().next().flatten())
    }

    /// Returns the book's proof of a position, unless it is of kind `manual`.
    fn proof(&self, position: &Position) -> Result<Option<Proof>> {
        Ok(self.entry(position)?.as_ref().and_then(proof_of))
    }

    /// Returns the winner's continuation after a reply at `before`, which leads to `position`. In
    /// gomoku one node serves all images of a position.
    pub(crate) fn winner(
        &mut self,
        before: &Position,
        reply: Move,
        position: &Position,
    ) -> Result<Reference> {
        let variant = position.variant();
        if !variant.is_square() {
            return Ok(Reference::to(self.node(position)?));
        }
        let known = self.cache.known(position);
        if let Some(node) = known.or_else(|| self.cache.like(position)) {
            return Ok(node);
        }
        // Outside the book the position keeps its orientation, so that similar positions get
        // similar trees.
        if self.proof(position)?.is_none() {
            let plan =
                self.cache
                    .threats
                    .refute(before, reply, self.cache.nodes, &self.cache.control)?;
            let node = match plan {
                Some(plan) => self.add(&plan),
                None => self.search(position)?,
            };
            return Ok(self.cache.place(position, node));
        }
        let canonical = position.canonical();
        let image = Position::unpack(variant, canonical.packed)?;
        let node = self.node(&image)?;
        let node = self.cache.place(&image, node);
        self.cache.known.insert(canonical.key, node);
        Ok(node.turned(variant.inverse(canonical.symmetry)))
    }

    /// Returns the node of a position that its side to move wins, in the position's own
    /// orientation.
    fn node(&mut self, position: &Position) -> Result<u32> {
        let entry = self.entry(position)?.map(|entry| entry.derived);
        let best =
            entry.filter(|derived| derived.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some(m) = best.and_then(|derived| derived.best) else {
            return self.search(position);
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.cache.dag.add(Node {
                at: Some(m),
                ..Node::default()
            }));
        }
        if self
            .proof(&next)?
            .is_none_or(|proof| proof.claim != Claim::Loss)
        {
            return self.search(position);
        }
        let node = self.answers(Some(m), &next)?;
        Ok(self.cache.dag.add(node))
    }

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

    /// Returns the node of a move `at` to a position, with an answer to every legal move of the
    /// loser.
    fn answers(&mut self, at: Option<Move>, position: &Position) -> Result<Node> {
        let mut answers = ReplyAnswers {
            position,
            replies: Vec::new(),
            known: Vec::new(),
        };
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
        let mut left: Vec<_> = entries
            .iter()
            .zip(open)
            .map(|(entry, (reply, next))| {
                let is_known = entry.as_ref().and_then(proof_of).is_some();
                let source = match (is_known, claimed.contains(&next.key())) {
                    (true, _) => AnswerSource::Book,
                    (false, false) => AnswerSource::Search,
                    (false, true) => AnswerSource::OtherReply,
                };
                (source, reply, next)
            })
            .collect();
        // The reply farthest from all stones is like a pass: its answer is the answer to most. Then
        // come the replies that the book knows, so that the search for the others stays at one
        // position.
        left.sort_by_cached_key(|(source, reply, _)| {
            let is_last = *source == AnswerSource::OtherReply;
            (is_last, std::cmp::Reverse(distance(position, *reply)))
        });
        if let Some(rest) = left.get_mut(1..) {
            rest.sort_by_key(|(source, ..)| *source);
        }
        let in_book: Vec<(Move, Position)> = left
            .iter()
            .filter(|(source, ..)| *source == AnswerSource::Book)
            .map(|(_, reply, next)| (*reply, next.clone()))
            .collect();
        for (source, reply, next) in left {
            let mut known = self.answered(&answers, reply, &next, TRIED, ANSWER_POSITIONS);
            if known.is_none() && source == AnswerSource::OtherReply {
                known = self.answered(&answers, reply, &next, usize::MAX, CLAIM_POSITIONS);
                if known.is_none() {
                    known = self.answer_again(&mut answers, &in_book, reply)?;
                }
            }
            let answer = match known {
                Some(answer) => answer,
                None => self.new_answer(&mut answers, reply, &next)?,
            };
            answers.add(reply, answer);
        }
        let most = answers.known.first().map(|(answer, ..)| *answer);
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
            let Ok(answer) = builder.winner(position, *known, next) else {
                continue;
            };
            if cache.wins(position, reply, answer, CLAIM_POSITIONS) {
                let root = cache.dag.upright(variant, answer);
                let tree = cache.dag.tree(root, next.clone(), Claim::Win);
                let node = self.cache.dag.load(&tree);
                let answer = self.cache.place(next, node);
                let zone = self.zone(position, answer);
                answers.known.push((answer, 0, zone));
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Returns a new answer to a reply, and notes its zone.
    fn new_answer(
        &mut self,
        answers: &mut ReplyAnswers<'_>,
        reply: Move,
        next: &Position,
    ) -> Result<Reference> {
        let position = answers.position;
        let answer = self.winner(position, reply, next)?;
        if answers.known.iter().all(|(known, ..)| *known != answer) {
            let zone = self.zone(position, answer);
            answers.known.push((answer, 0, zone));
        }
        Ok(answer)
    }

    /// Returns the points that matter to an answer after a pass of the loser, who is to move.
    pub(crate) fn zone(&mut self, position: &Position, answer: Reference) -> Option<Zone> {
        let ProofCache { dag, zones, .. } = &mut *self.cache;
        zones
            .as_mut()?
            .after_pass(dag, position, answer, ZONE_POSITIONS)
    }

    /// Returns an answer to other replies that answers this one too, the most used first. `tries`
    /// bounds the answers, and `positions` the cost of each.
    fn answered(
        &mut self,
        answers: &ReplyAnswers<'_>,
        reply: Move,
        next: &Position,
        tries: usize,
        positions: u64,
    ) -> Option<Reference> {
        let is_outside = |zone: &Option<Zone>| zone.is_some_and(|zone| !zone.contains(reply));
        let outside = answers.known.iter().find(|(_, _, zone)| is_outside(zone));
        if let Some((answer, ..)) = outside {
            return Some(*answer);
        }
        let ProofCache {
            dag, plans, zones, ..
        } = &mut *self.cache;
        if let Some(zones) = zones {
            let mut tried = answers.known.iter().take(tries).map(|(answer, ..)| *answer);
            return tried.find(|answer| zones.wins(dag, next, *answer, positions));
        }
        let wins = |answer: &Reference| with_game!(next.variant(), G => dag.wins(&mut next.game::<G>(), *answer));
        let known = answers.known.iter().map(|(answer, ..)| *answer);
        known
            .filter(|answer| plans.contains(&answer.node))
            .take(tries)
            .find(wins)
    }

    /// Searches a position for a win, by threats or else by the engine, and returns its node.
    fn search(&mut self, position: &Position) -> Result<u32> {
        if position.variant().has_threat_search()
            && let Some(plan) = self.plan(position)?
        {
            return Ok(self.add(&plan));
        }
        let answer = self.cache.engine.answer(
            &Question::new(position.clone(), Effort::nodes(self.cache.nodes)),
            &self.cache.control,
            &mut |_| {},
        )?;
        let won = answer
            .best()
            .filter(|(_, verdict)| verdict.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some((m, _)) = won else {
            bail!(
                "the win of {position} was not found again in {} positions; give more --nodes, or prove it in the book by a build of its own",
                self.cache.nodes
            );
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.cache.dag.add(Node {
                at: Some(m),
                ..Node::default()
            }));
        }
        let node = self.answers(Some(m), &next)?;
        Ok(self.cache.dag.add(node))
    }

    /// Searches a position for a win by threats. The search tries few fours where it looks for
    /// a threat, in an order that depends on the orientation, so it may see a win in one image of
    /// the position and not in another.
    fn plan(&mut self, position: &Position) -> Result<Option<Strategy>> {
        let variant = position.variant();
        for turn in variant.symmetries() {
            let image = with_game!(variant, G => position.game::<G>().pack(turn));
            let nodes = if turn == Symmetry::IDENTITY {
                self.cache.nodes
            } else {
                self.cache.nodes / IMAGE_SHARE
            };
            let plan = self.cache.threats.strategy(
                &Position::unpack(variant, image)?,
                Effort::nodes(nodes),
                &self.cache.control,
            )?;
            if let Some(plan) = plan {
                return Ok(Some(plan.turned(variant, variant.inverse(turn))));
            }
        }
        Ok(None)
    }

    fn add(&mut self, plan: &Strategy) -> u32 {
        let first = plant(&mut self.cache.dag, plan);
        self.cache.plans.insert(first);
        first
    }
}

/// Returns the proof of an entry, unless it is of kind `manual`.
fn proof_of(entry: &Entry) -> Option<Proof> {
    entry
        .derived
        .proof
        .filter(|proof| proof.kind != ProofKind::Manual)
}

/// Steps of a plan as nodes; gives the number of its first.
pub fn plant(dag: &mut ProofDag, plan: &Strategy) -> u32 {
    let mut numbers: Vec<u32> = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let to = |step: u32| Reference::to(numbers[step as usize]);
        let replies = step
            .replies
            .iter()
            .map(|(m, next)| (*m, to(*next)))
            .collect();
        let node = Node {
            at: Some(step.at),
            replies,
            otherwise: step.otherwise.map(to),
        };
        numbers.push(dag.add(node));
    }
    numbers.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{Book, BookOptions};
    use kagetsu_game::{Answer, Bound, Provenance, Score, Variant, Verdict};
    use kagetsu_search::Control;
    use kagetsu_search::threats::ThreatSearch;

    use super::*;

    /// Seen as it stands, the side to move has no threat that the search sees to win. A mirror
    /// image of it is won within 25 plies.
    #[test]
    fn win_seen_in_one_image_counts_in_all() {
        let line = "g4 e4 f5 g5 i5 g6 i6 h6 i7 j6 h8 g7 g9 h7 h9 f8 j9 i8 h10 d10";
        let position = Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let mut threats = ThreatSearch::new(1 << 20);
        let effort = Effort::nodes(1_000_000);
        let direct = threats.strategy(&position, effort, &Control::new());
        assert_eq!(
            direct.expect("gomoku"),
            None,
            "the test needs a position that hides its win"
        );

        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
        let mut cache =
            ProofCache::quick(position.variant(), 4_000_000, Control::new()).expect("an engine");
        let mut builder = ProofTreeBuilder::new(&book, &mut cache);
        let plan = builder.plan(&position).expect("a search").expect("a win");
        let root = builder.add(&plan);
        let tree = cache.dag.tree(root, position, Claim::Win);
        let checked = kagetsu_verify::check(&tree, &mut |_| {});
        assert!(checked.is_ok(), "{checked:?}");
    }

    /// Only the replies at the ends of an open four have positions in the book, and the search for
    /// others may visit one position.
    #[test]
    fn replies_that_lose_to_known_answers_come_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
        let line = "h8 a1 i8 a3 j8 a5 k8";
        let position = Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let verdict = |m: Move, proof: Option<Proof>| {
            let verdict = Verdict {
                score: proof.map_or(Score::opinion(0), Proof::score),
                bound: Bound::Exact,
                depth: 1,
                nodes: 1,
                line: vec![m],
                proof,
                by: Provenance {
                    engine: "test".into(),
                    day: 0,
                },
            };
            (m, verdict)
        };
        let proof = |claim, kind, plies| Some(Proof { claim, kind, plies });
        let ends = [("g8", "l8"), ("l8", "g8")];
        let ends = ends.map(|(end, five)| (position.parse_move(end).expect("legal"), five));
        let lost = |m| {
            let is_end = ends.iter().any(|(end, _)| *end == m);
            let claim = proof(Claim::Loss, ProofKind::Tree, 2);
            verdict(m, claim.filter(|_| !is_end))
        };
        let claims: Answer = position.distinct_moves().into_iter().map(lost).collect();
        book.learn(&position, &claims).expect("learned");
        for (end, five) in ends {
            let next = position.play(end).expect("legal");
            let five = next.parse_move(five).expect("legal");
            let won = verdict(five, proof(Claim::Win, ProofKind::Terminal, 1));
            let won: Answer = [won].into_iter().collect();
            book.learn(&next, &won).expect("learned");
        }
        let mut cache = ProofCache::new(position.variant(), 1).expect("an engine");
        let (tree, size) = ProofTreeBuilder::new(&book, &mut cache)
            .tree(&position)
            .expect("a tree");
        assert_eq!(size.nodes, 3);
        let checked = kagetsu_verify::check(&tree, &mut |_| {});
        assert!(checked.is_ok(), "{checked:?}");
    }
}
