//! Win trees of a book's proofs, in which the wins found by search are played out.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Error, Result, bail};
use kagetsu_book::Entry;
use kagetsu_game::{
    Claim, Effort, Game, Key, Move, Outcome, Position, Proof, ProofKind, Question, Symmetry,
    with_game,
};
use kagetsu_search::threats::Strategy;
use kagetsu_verify::{Node, ProofDag, Reference, Tree, Zone, distance};

use crate::ProofSource;
use crate::open_positions::{OpenPlace, OpenPosition, OpenPositions};
use crate::proof_cache::{ANSWER_POSITIONS, ProofCache};
use crate::reply_answers::{AnswerSource, LoserReply, ReplyAnswers};

/// The number of known plans to try as an answer before searching for a new one.
const TRIED: usize = 6;
/// Positions that a zone may cost.
const ZONE_POSITIONS: u64 = 200_000;
/// Positions that a known answer may cost for a reply that the book counts as lost because such an
/// answer wins.
pub(crate) const CLAIM_POSITIONS: u64 = 20_000;
/// Positions that the search for the way in which a claim of the book wins may visit.
pub(crate) const SEARCH_POSITIONS: u64 = 400_000;

/// Positions that the search for a win that no proof of the book promises may visit.
const GUIDED_POSITIONS: u64 = 50_000;

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

/// The result of growing a tree.
#[derive(Clone, Debug)]
pub enum GrownTree {
    /// The tree and its size.
    Whole(Tree, TreeSize),
    /// The positions that keep the tree from being whole, with the winner to move.
    Open(Vec<Position>),
}

/// Grows trees from the proofs of a book.
pub struct ProofTreeBuilder<'a> {
    book: &'a dyn ProofSource,
    cache: &'a mut ProofCache,
    /// `None` where the first open position ends the work.
    open: Option<OpenPositions>,
}

impl<'a> ProofTreeBuilder<'a> {
    /// Returns a builder of trees of a book.
    pub const fn new(book: &'a dyn ProofSource, cache: &'a mut ProofCache) -> Self {
        Self {
            book,
            cache,
            open: None,
        }
    }

    /// Returns the win tree of a position, and its size.
    ///
    /// # Errors
    /// If the book has proven no win of it, if a win is not found again, or if the book cannot be
    /// read.
    pub fn tree(&mut self, position: &Position) -> Result<(Tree, TreeSize)> {
        let claim = self.claim(position)?;
        let root = match (self.cache.known(position), claim) {
            (Some(given), _) => self.cache.dag.upright(position.variant(), given),
            (None, Claim::Win) if self.proof(position)?.is_none() => {
                let guide = self.cache.guide(position);
                let node = self.unproven(None, position, guide)?;
                self.cache.dag.upright(position.variant(), node)
            }
            (None, Claim::Win) => self.node(position, None)?,
            (None, _) => {
                let guide = self.cache.guide(position);
                let root = self.answers(None, position, guide)?;
                self.cache.dag.add(root)
            }
        };
        let tree = self.cache.dag.tree(root, position.clone(), claim);
        let size = TreeSize {
            nodes: tree.nodes().len() as u64,
            positions: self.cache.known.len() as u64,
        };
        Ok((tree, size))
    }

    /// The same, but goes on behind an open position, and collects all of them. A position that was
    /// `tried` in vain and is still open gives way to the one two plies before.
    ///
    /// # Errors
    /// If neither the book nor a tree claims a win of it, or if the book cannot be read.
    pub fn tree_or_open(&mut self, position: &Position, tried: &[Position]) -> Result<GrownTree> {
        self.open = Some(OpenPositions::new(position, tried));
        let grown = self.tree(position);
        let found = self.open.take().map(OpenPositions::into_found);
        match grown {
            Err(error) if error.is::<OpenPosition>() => {
                let found = found.filter(|found| !found.is_empty());
                Ok(GrownTree::Open(
                    found.unwrap_or_else(|| vec![position.clone()]),
                ))
            }
            grown => grown.map(|(tree, size)| GrownTree::Whole(tree, size)),
        }
    }

    /// Returns the result of a position by the given trees or the book.
    fn claim(&self, position: &Position) -> Result<Claim> {
        if self.cache.known(position).is_some() {
            return Ok(Claim::Win);
        }
        let claim = match (self.proof(position)?, self.cache.winner) {
            (Some(proof), _) => Some(proof.claim),
            // Trees of all replies may be given.
            (None, Some(winner)) if winner == position.side() => Some(Claim::Win),
            (None, Some(_)) => Some(Claim::Loss),
            (None, None) => None,
        };
        match claim {
            Some(claim @ (Claim::Win | Claim::Loss)) => Ok(claim),
            Some(Claim::Draw) | None => {
                bail!(
                    "the book has proven no win of {position}; `kagetsu build --policy prove` looks for one"
                )
            }
        }
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
    /// gomoku one node serves all images of a position. `guide` is a node that wins in a position
    /// like this one.
    pub(crate) fn winner(
        &mut self,
        before: &Position,
        reply: Move,
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<Reference> {
        let variant = position.variant();
        if !variant.is_square() {
            return Ok(Reference::to(self.node(position, None)?));
        }
        let known = self.cache.known(position);
        if let Some(node) = known.or_else(|| self.cache.like(position, guide)) {
            return Ok(node);
        }
        if let Some(place) = self.open.as_ref().and_then(|open| open.met(position)) {
            return Err(OpenPosition::new(position.clone(), 0).behind(place).into());
        }
        let found = self.open.as_ref().map_or(0, OpenPositions::len);
        let grown = self.grow((before, reply), position, guide);
        grown.map_err(|error| self.note_open(position, error, found))
    }

    /// Returns the error of a position for the one two plies before it.
    fn note_open(&mut self, position: &Position, error: Error, found: usize) -> Error {
        let Some(open) = &mut self.open else {
            return error;
        };
        match error.downcast::<OpenPosition>() {
            Ok(error) => {
                let place = open.note(position, error.place, found);
                error.behind(place).into()
            }
            Err(other) => other,
        }
    }

    /// Returns the winner's continuation at a position for which nothing is known to win.
    fn grow(
        &mut self,
        before: (&Position, Move),
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<Reference> {
        // Outside the book the position keeps its orientation, so that similar positions get
        // similar trees.
        if self.proof(position)?.is_none() {
            return self.unproven(Some(before), position, guide);
        }
        let variant = position.variant();
        let canonical = position.canonical();
        let image = Position::unpack(variant, canonical.packed)?;
        let guide = guide.map(|guide| guide.turned(canonical.symmetry));
        let node = self.node(&image, guide)?;
        let node = self.cache.place(&image, node);
        self.cache.known.insert(canonical.key, node);
        Ok(node.turned(variant.inverse(canonical.symmetry)))
    }

    /// Returns a node of a position that the book has not proven. `before` is the position before
    /// it, with the reply that leads here.
    fn unproven(
        &mut self,
        before: Option<(&Position, Move)>,
        position: &Position,
        guide: Option<Reference>,
    ) -> Result<Reference> {
        let is_lost = match before {
            Some((before, _)) => self.proof(before)?.is_some(),
            None => false,
        };
        if !is_lost && let Some(guide) = guide.filter(|guide| self.cache.is_quiet(*guide)) {
            match self.follow(position, guide) {
                Err(error) if self.open.is_none() && error.is::<OpenPosition>() => {}
                followed => return followed,
            }
        }
        let nodes = if is_lost {
            self.cache.nodes
        } else {
            self.cache.nodes.min(GUIDED_POSITIONS)
        };
        let plan = match before {
            Some((before, reply)) => {
                let ProofCache {
                    threats, control, ..
                } = &mut *self.cache;
                threats.refute(before, reply, nodes, control)?
            }
            None => None,
        };
        let node = match plan {
            Some(plan) => self.add(&plan),
            None => self.search(position, nodes)?,
        };
        Ok(self.cache.place(position, node))
    }

    /// Returns a node that makes the move of a guide and answers each reply.
    fn follow(&mut self, position: &Position, guide: Reference) -> Result<Reference> {
        let own = self.cache.dag.node(guide.node).at;
        let at = own.map(|m| position.variant().image(m, guide.turn));
        let next = at.and_then(|m| position.play(m).ok());
        let Some(next) = next.filter(|next| next.outcome().is_none()) else {
            return Err(OpenPosition::new(position.clone(), 0).into());
        };
        let node = self.answers(at, &next, Some(guide))?;
        let node = self.cache.dag.add(node);
        let node = self.cache.place(position, node);
        let canonical = position.canonical();
        let seen = node.turned(canonical.symmetry);
        self.cache.known.insert(canonical.key, seen);
        Ok(node)
    }

    /// Returns the node of a position that its side to move wins, in the position's own
    /// orientation.
    fn node(&mut self, position: &Position, guide: Option<Reference>) -> Result<u32> {
        let entry = self.entry(position)?.map(|entry| entry.derived);
        let best =
            entry.filter(|derived| derived.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some(m) = best.and_then(|derived| derived.best) else {
            return self.search(position, self.cache.nodes);
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
            return self.search(position, self.cache.nodes);
        }
        let guide = self.cache.guide_of_move(position, m, guide);
        let node = self.answers(Some(m), &next, guide)?;
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
            (is_last, std::cmp::Reverse(distance(position, reply.at)))
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
    fn answers(
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
            .after_pass(dag, position, answer, ZONE_POSITIONS)
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
            return tried.find(|answer| zones.wins(dag, next, *answer, positions));
        }
        let wins = |answer: &Reference| with_game!(next.variant(), G => dag.wins(&mut next.game::<G>(), *answer));
        known
            .filter(|answer| plans.contains(&answer.node))
            .take(tries)
            .find(wins)
    }

    /// Searches a position for a win, by threats or else by the engine, and returns its node.
    fn search(&mut self, position: &Position, nodes: u64) -> Result<u32> {
        if position.variant().has_threat_search()
            && let Some(plan) = self.plan(position, nodes)?
        {
            return Ok(self.add(&plan));
        }
        let answer = self.cache.engine.answer(
            &Question::new(position.clone(), Effort::nodes(nodes)),
            &self.cache.control,
            &mut |_| {},
        )?;
        let won = answer
            .best()
            .filter(|(_, verdict)| verdict.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some((m, _)) = won else {
            return Err(OpenPosition::new(position.clone(), nodes).into());
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.cache.dag.add(Node {
                at: Some(m),
                ..Node::default()
            }));
        }
        let node = self.answers(Some(m), &next, None)?;
        Ok(self.cache.dag.add(node))
    }

    /// Searches a position for a win by threats. The search tries few fours where it looks for
    /// a threat, in an order that depends on the orientation, so it may see a win in one image of
    /// the position and not in another.
    fn plan(&mut self, position: &Position, nodes: u64) -> Result<Option<Strategy>> {
        let variant = position.variant();
        for turn in variant.symmetries() {
            let image = with_game!(variant, G => position.game::<G>().pack(turn));
            let nodes = if turn == Symmetry::IDENTITY {
                nodes
            } else {
                nodes / IMAGE_SHARE
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

    fn verdict(m: Move, proof: Option<Proof>) -> (Move, Verdict) {
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
    }

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
        let plan = builder
            .plan(&position, 4_000_000)
            .expect("a search")
            .expect("a win");
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
    /// The first side has two groups of stones that win by threats. The given answer to one reply
    /// uses the first group, and the book's uses the second. The book counts the other replies as
    /// lost, and the search for them may visit one position.
    #[test]
    fn answers_of_the_book_are_grown_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
        let read = |line| Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let position = read("d4 a9 e5 a15 d6 o1 e3 o6 l11 h1 m12 f15 l13 i8 m10");
        let far = position.parse_move("j15").expect("legal");
        let next = position.play(far).expect("legal");
        let mut threats = ThreatSearch::new(1 << 20);
        let mut win_of = |group| {
            let effort = Effort::nodes(1_000_000);
            let plan = threats.strategy(&read(group), effort, &Control::new());
            plan.expect("gomoku").expect("a win")
        };
        let first = win_of("d4 a9 e5 a15 d6 o1 e3 o6");
        let second = win_of("l11 a9 m12 a15 l13 o1 m10 o6");
        let start = second.steps.last().expect("a step").at;

        let proof = |claim, plies| Proof {
            claim,
            kind: ProofKind::Tree,
            plies,
        };
        let losses = |position: &Position, open: Option<Move>| {
            let lost = Some(proof(Claim::Loss, 10));
            let moves = position.distinct_moves().into_iter();
            let claims = moves.map(|m| verdict(m, lost.filter(|_| Some(m) != open)));
            claims.collect::<Answer>()
        };
        let mut learn = |position: &Position, answer: &Answer| {
            book.learn(position, answer).expect("learned");
        };
        learn(&position, &losses(&position, Some(far)));
        let won = verdict(start, Some(proof(Claim::Win, 9)));
        learn(&next, &[won].into_iter().collect());
        let after = next.play(start).expect("legal");
        learn(&after, &losses(&after, None));

        let mut dag = ProofDag::default();
        let root = plant(&mut dag, &first);
        let given = dag.tree(root, next, Claim::Win);
        let mut cache = ProofCache::new(position.variant(), 1).expect("an engine");
        cache.load(&given).expect("a part");
        let grown = ProofTreeBuilder::new(&book, &mut cache).tree(&position);
        let (tree, _) = grown.expect("a tree");
        let checked = kagetsu_verify::check(&tree, &mut |_| {});
        assert!(checked.is_ok(), "{checked:?}");
    }
}
