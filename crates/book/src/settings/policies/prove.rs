//! Proof-number order (Allis, van der Meulen and van den Herik: "Proof-number search", 1994; as
//! jobs of a cluster: Wu, Lin, Sun, Lin and Yen, "Job-level proof number search", 2010).
//!
//! The proof number of a position is a lower bound of the positions that must still be proven to
//! prove that the attacker wins; the disproof number bounds those needed to show that he does not.
//! Both count only what the job follows. They are weak proof numbers (Ueda, Hashimoto, Hashimoto
//! and Iida, 2008): instead of the sum over the children, the greatest number of a child and a
//! little for each other child. A position without a record has the numbers that the answer for
//! its parent makes likely.
//!
//! The attacker's answer lists few moves, so a position of the attacker none of whose moves wins is
//! not disproven: when its moves have taken more than a further one promises, it is searched again,
//! first by an adviser for the best move, then for as many moves as it has. It counts as disproven
//! when all legal moves are. No move of the attacker counts for more than an adviser's value says;
//! the adviser's line names further moves.
//!
//! The numbers follow from records, links and frontier alone, so they are kept in memory only. An
//! answer discards those of its position and of all positions that lead to it.

use std::collections::HashMap;

use kagetsu_game::gomoku::Point;
use kagetsu_game::{Answer, Claim, Move, Position, Question, Score, Side, Window};

use super::growth_policy::{GrowthPolicy, PolicyInfo};
use super::selection::{Frontier, Selection};
use crate::BookError;
use crate::base::id::Id;
use crate::base::node::Node;

/// The policy that looks for a proof that one side wins.
pub(super) struct Prove;

/// Number of threat searches that the attacker's look for his best moves may cost.
const SEARCHES_PER_ATTACK: u64 = 10;

/// Number of threat searches that an adviser's search may cost.
const SEARCHES_PER_ADVICE: u64 = 20;

impl GrowthPolicy for Prove {
    fn info(&self) -> &'static PolicyInfo {
        &PolicyInfo {
            name: "prove",
            label: "Prove a win",
            help: "The position that helps most to prove that one side wins the roots: \
                   proof-number order",
            defaults: &[("nodes", 20_000)],
            ignores: &["alpha"],
            can_deepen: false,
            widens: true,
        }
    }

    /// Asks the attacker which move wins or comes nearest to it, with the effort of several threat
    /// searches, and the defender whether all moves lose, with one threat search for each move.
    /// Games without threat searches cannot answer the first question any better than a search
    /// for the best moves, so there the attacker is asked for these. In the other games an adviser
    /// is asked for the best move at a position of the attacker that resists.
    fn question(&self, attacker: Side, mut question: Question, known: Option<&Answer>) -> Question {
        let is_attack = question.position.side() == attacker;
        if is_attack
            && !question.moves.is_empty()
            && question.position.variant().has_threat_search()
            && known.is_some_and(|known| advice(known).is_none())
        {
            let nodes = question.effort.nodes;
            question.moves = Vec::new();
            question.width = 1;
            question.effort.nodes = nodes.map(|nodes| nodes.saturating_mul(SEARCHES_PER_ADVICE));
            return question;
        }
        let moves = if question.moves.is_empty() {
            question.position.distinct_moves().len()
        } else {
            question.moves.len()
        };
        if !is_attack {
            question.window = Window {
                alpha: Score::MIN,
                beta: -Score::OPINION_MAX,
            };
        } else if question.position.variant().has_threat_search() {
            question.window = Window {
                alpha: Score::OPINION_MAX,
                beta: Score::MAX,
            };
        }
        if is_attack && !question.moves.is_empty() {
            // As many moves again as the position has, those near the stones first.
            let known = question
                .position
                .distinct_moves()
                .len()
                .saturating_sub(moves);
            let known = u16::try_from(known).unwrap_or(u16::MAX);
            question.width = question.width.max(known);
            question.moves = near_stones(&question.position, question.moves);
        }
        let searches = if is_attack {
            SEARCHES_PER_ATTACK
        } else {
            moves as u64
        };
        let nodes = question.effort.nodes;
        question.effort.nodes = nodes.map(|nodes| nodes.saturating_mul(searches));
        question
    }

    fn selection(&self, job: u32, attacker: Side, roots: Vec<Id>) -> Box<dyn Selection> {
        Box::new(ProofOrder {
            job,
            attacker,
            roots,
            numbers: HashMap::new(),
            paths: HashMap::new(),
            busy: HashMap::new(),
        })
    }
}

/// Distance to the next stone, in columns and rows, up to which a move is near.
const NEAR: u8 = 2;

/// Returns those of the moves of a gomoku position that are near a stone, or all if none is.
fn near_stones(position: &Position, moves: Vec<Move>) -> Vec<Move> {
    let Some((stones, (_, size))) = position.stones().zip(position.variant().gomoku()) else {
        return moves;
    };
    let is_near = |m: &Move| {
        let (at, stones) = (Point::of(*m, size), stones.iter().flatten());
        stones
            .map(|stone| Point::of(*stone, size))
            .any(|stone| stone.x.abs_diff(at.x) <= NEAR && stone.y.abs_diff(at.y) <= NEAR)
    };
    let near: Vec<Move> = moves.iter().copied().filter(is_near).collect();
    if near.is_empty() { moves } else { near }
}

/// Returns the best value of an adviser, which has a depth: the opinions of a search for threats
/// have none.
fn advice(facts: &Answer) -> Option<Score> {
    let mut verdicts = facts.verdicts().iter().map(|(_, verdict)| verdict);
    let best = verdicts.find(|v| v.is_exact() && v.proof.is_none() && v.depth > 0);
    best.map(|verdict| verdict.score)
}

/// The number of what is impossible.
const INFINITE: u32 = u32::MAX / 4;

/// Centi-units by which an opinion must be worse for the attacker to add 1 to the proof number. The
/// attacker's moves that are no wins come with such opinions.
const CENTI_UNITS_PER_PROOF: u32 = 20;

/// Proof number of the attacker's answer to a reply that was not refuted at once.
const PROOF_OF_NEW_REPLY: u32 = 4;

/// Ranks in the move order that add 1 to the disproof number, so that the best defence is searched
/// first.
const RANKS_PER_DISPROOF: usize = 4;

/// Open siblings that add 1 to the greatest number: most of them fall to what refuted another.
const SIBLINGS_PER_NUMBER: u32 = 2;

/// Fruitless positions behind an attacking move that add 1 to its number. Without this a search can
/// spend thousands of positions on forcing moves that leave one reply each, while a quiet move
/// would win at once.
const FRUITLESS_PER_NUMBER: u32 = 30;

/// Proof number of a position that must be searched a second time for moves that have no value.
const SECOND_SEARCH: u32 = 4;

/// Proof number of an adviser's search at a position of the attacker: dearer moves wait for it.
const ADVICE: u32 = 4;

/// Value of an adviser from which the attacker's move counts as a win, in centi-units.
const SURE: i32 = 300;

/// Disproof number of the moves of the attacker that are not listed yet.
const UNLISTED: u32 = 1;

/// Proof and disproof number of a position, from the attacker's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProofNumbers {
    proof: u32,
    disproof: u32,
    /// Positions searched on all paths that are still open; a position that is reached by several
    /// paths counts for each.
    effort: u32,
}

impl ProofNumbers {
    const PROVEN: Self = Self {
        proof: 0,
        disproof: INFINITE,
        effort: 0,
    };
    const DISPROVEN: Self = Self {
        proof: INFINITE,
        disproof: 0,
        effort: 0,
    };
    const NEW: Self = Self {
        proof: 1,
        disproof: 1,
        effort: 0,
    };

    /// Guesses the numbers of a position without a record, from the `rank` and the score of the
    /// move that leads to it.
    fn guess(is_attack: bool, score: Score, rank: usize) -> Self {
        if is_attack {
            let loss = u32::from(score.raw().min(0).unsigned_abs());
            return Self {
                proof: 1 + loss / CENTI_UNITS_PER_PROOF,
                ..Self::NEW
            };
        }
        Self {
            proof: PROOF_OF_NEW_REPLY,
            disproof: 1 + (rank / RANKS_PER_DISPROOF) as u32,
            ..Self::NEW
        }
    }

    fn is_open(self) -> bool {
        self.proof > 0 && self.disproof > 0 && self.proof < INFINITE
    }

    /// The number that the side to move minimises over the children, and the one that adds up.
    fn seen(self, is_attack: bool) -> (u32, u32) {
        if is_attack {
            (self.proof, self.disproof)
        } else {
            (self.disproof, self.proof)
        }
    }
}

/// A step of the descent to the position that is searched next.
enum Step {
    /// The position itself is searched, for the first time or for further moves.
    Stop,
    /// A child is looked at.
    Child(Id),
}

/// Chooses by proof numbers.
#[derive(Debug)]
struct ProofOrder {
    job: u32,
    attacker: Side,
    roots: Vec<Id>,
    numbers: HashMap<Id, ProofNumbers>,
    /// The path to each position that is being searched, the position itself first.
    paths: HashMap<Id, Vec<Id>>,
    /// Number of those paths that lead over a position.
    busy: HashMap<Id, u32>,
}

impl Selection for ProofOrder {
    fn next(&mut self, frontier: &mut dyn Frontier, n: usize) -> Result<Vec<Id>, BookError> {
        let mut found = Vec::new();
        while found.len() < n {
            let Some(id) = self.most_proving(frontier)? else {
                break;
            };
            found.push(id);
        }
        Ok(found)
    }

    fn taken(&mut self, id: Id) {
        self.paths.entry(id).or_default();
    }

    fn released(&mut self, id: Id) {
        for at in self.paths.remove(&id).unwrap_or_default() {
            if let Some(busy) = self.busy.get_mut(&at) {
                *busy -= 1;
                if *busy == 0 {
                    self.busy.remove(&at);
                }
            }
        }
    }

    fn learned(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<(), BookError> {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.numbers.remove(&id).is_some() {
                left.extend(frontier.reach(id)?.parents());
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.numbers.clear();
    }
}

impl ProofOrder {
    /// Takes the position that is to be searched next.
    fn most_proving(&mut self, frontier: &mut dyn Frontier) -> Result<Option<Id>, BookError> {
        let mut open = Vec::with_capacity(self.roots.len());
        for root in self.roots.clone() {
            let numbers = self.numbers(frontier, root)?;
            if numbers.is_open() {
                let busy = self.busy.get(&root).copied().unwrap_or(0);
                open.push((busy, numbers.proof, root));
            }
        }
        open.sort_unstable();
        for (.., root) in open {
            let mut path = Vec::new();
            if self.descend(frontier, root, &mut path)? {
                path.reverse();
                for at in &path {
                    *self.busy.entry(*at).or_default() += 1;
                }
                let found = path.first().copied();
                found.and_then(|found| self.paths.insert(found, path));
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Descends by the least numbers to a position that waits and is not being searched, and
    /// appends the path to it. Each search that is under way below a child adds 1 to its number.
    fn descend(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        path: &mut Vec<Id>,
    ) -> Result<bool, BookError> {
        path.push(id);
        let waits =
            frontier.reach(id)?.waiting(self.job).is_some() && !self.paths.contains_key(&id);
        let Some(node) = frontier.node(id)? else {
            if !waits {
                path.pop();
            }
            return Ok(waits);
        };
        let is_attack = node.side == self.attacker;
        let mut steps = Vec::new();
        if waits {
            steps.push((SECOND_SEARCH, 0, Step::Stop));
        }
        let children = children(frontier, id, &node)?;
        let may_widen = is_attack && !waits && !self.paths.contains_key(&id);
        if may_widen && let Some(number) = self.widening(frontier, id, &node, &children)? {
            steps.push((number, usize::MAX, Step::Stop));
        }
        for (rank, (child, score)) in children.into_iter().enumerate() {
            let known = self.numbers.get(&child).copied();
            let known = known.unwrap_or(ProofNumbers::NEW);
            let guess = ProofNumbers::guess(is_attack, score, rank);
            let numbers = known_or_guess(frontier, child, known, guess)?;
            if numbers.is_open() {
                let busy = self.busy.get(&child).copied().unwrap_or(0);
                let fruitless = if is_attack {
                    numbers.effort / FRUITLESS_PER_NUMBER
                } else {
                    0
                };
                let (minimised, _) = numbers.seen(is_attack);
                let number = minimised.saturating_add(busy).saturating_add(fruitless);
                steps.push((number, 1 + rank, Step::Child(child)));
            }
        }
        steps.sort_by_key(|(number, rank, _)| (*number, *rank));
        for (.., step) in steps {
            match step {
                Step::Stop => return Ok(true),
                Step::Child(child) => {
                    if self.descend(frontier, child, path)? {
                        return Ok(true);
                    }
                }
            }
        }
        path.pop();
        Ok(false)
    }

    /// Returns the proof number of an adviser's search at a known position of the attacker. After
    /// it, that of a search for further moves: the guess for the last of its moves, and more the
    /// more moves it has. `None` if it has all.
    fn widening(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        node: &Node,
        children: &[(Id, Score)],
    ) -> Result<Option<u32>, BookError> {
        let reach = frontier.reach(id)?;
        let is_over = reach.waiting(self.job).is_some()
            || reach.is_aside(self.job)
            || id.stones() >= frontier.max_stones()?;
        if is_over {
            return Ok(None);
        }
        if node.position.variant().has_threat_search() && advice(&node.facts).is_none() {
            return Ok(Some(ADVICE));
        }
        if !has_unlisted_moves(node) {
            return Ok(None);
        }
        let ranked = children.iter().enumerate();
        let guesses =
            ranked.map(|(rank, (_, score))| ProofNumbers::guess(true, *score, rank).proof);
        let dearest = guesses.max().unwrap_or(ProofNumbers::NEW.proof);
        Ok(Some(dearest.saturating_add(children.len() as u32)))
    }

    fn numbers(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<ProofNumbers, BookError> {
        if let Some(known) = self.numbers.get(&id) {
            return Ok(*known);
        }
        let numbers = self.compute(frontier, id)?;
        self.numbers.insert(id, numbers);
        Ok(numbers)
    }

    fn compute(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<ProofNumbers, BookError> {
        let is_skipped = frontier.reach(id)?.is_aside(self.job);
        let Some(node) = frontier.node(id)? else {
            let is_beyond = id.stones() > frontier.max_stones()?;
            return Ok(if is_skipped || is_beyond {
                ProofNumbers::DISPROVEN
            } else {
                ProofNumbers::NEW
            });
        };
        let is_attack = node.side == self.attacker;
        let value = frontier.value(id)?;
        if let Some(proof) = value.and_then(|value| value.proof) {
            let claim = if is_attack {
                proof.claim
            } else {
                proof.claim.negated()
            };
            return Ok(if claim == Claim::Win {
                ProofNumbers::PROVEN
            } else {
                ProofNumbers::DISPROVEN
            });
        }
        let mut least = INFINITE;
        let mut greatest = 0;
        let mut siblings = 0;
        let mut effort = 1_u32;
        let mut count = |(minimised, added): (u32, u32)| {
            least = least.min(minimised);
            if added > 0 {
                siblings += u32::from(greatest > 0);
                greatest = greatest.max(added);
            }
        };
        if !is_skipped && value.is_some_and(|value| value.is_open) {
            count((SECOND_SEARCH, SECOND_SEARCH));
        }
        let children = children(frontier, id, &node)?;
        if is_attack && let Some(number) = self.widening(frontier, id, &node, &children)? {
            count((number, UNLISTED));
        }
        for (rank, (child, score)) in children.into_iter().enumerate() {
            let known = self.numbers(frontier, child)?;
            effort = effort.saturating_add(known.effort);
            let guess = ProofNumbers::guess(is_attack, score, rank);
            count(known_or_guess(frontier, child, known, guess)?.seen(is_attack));
        }
        // Nothing leads on from here, so nothing can be proven.
        if least == INFINITE && greatest == 0 {
            return Ok(ProofNumbers::DISPROVEN);
        }
        let added = greatest
            .saturating_add(siblings / SIBLINGS_PER_NUMBER)
            .min(INFINITE);
        let (proof, disproof) = if is_attack {
            (least, added)
        } else {
            (added, least)
        };
        Ok(ProofNumbers {
            proof,
            disproof,
            effort,
        })
    }
}

/// Whether a legal move of a position has no exact value yet, up to symmetry.
fn has_unlisted_moves(node: &Node) -> bool {
    let verdicts = node.facts.verdicts().iter();
    let exact = verdicts.filter(|(_, verdict)| verdict.is_exact()).count();
    let legal = node.position.legal_moves().len();
    // Symmetry makes at most eight moves one.
    exact * 8 < legal || exact < node.position.distinct_moves().len()
}

/// The positions that a node leads to, each with what its move promises the attacker, in the order
/// of the answer: best first. No move promises more than the one that an adviser prefers.
fn children(
    frontier: &mut dyn Frontier,
    id: Id,
    node: &Node,
) -> Result<Vec<(Id, Score)>, BookError> {
    let mut children: Vec<(Id, Score)> = Vec::with_capacity(node.followed.len());
    let advised = advice(&node.facts).filter(|_| node.position.variant().has_threat_search());
    let most = advised.map(|value| Score::opinion(i32::from(value.raw()) - SURE));
    for (m, verdict) in node.facts.verdicts() {
        if let Some(child) = node.child(*m)
            && frontier.reach(child)?.is_from(id)
            && children.iter().all(|(known, _)| *known != child)
        {
            children.push((child, most.unwrap_or(Score::MAX).min(verdict.score)));
        }
    }
    Ok(children)
}

/// The guess for a position without a record that the job does not leave out, else what is known.
fn known_or_guess(
    frontier: &mut dyn Frontier,
    id: Id,
    known: ProofNumbers,
    guess: ProofNumbers,
) -> Result<ProofNumbers, BookError> {
    let is_new = known == ProofNumbers::NEW && frontier.node(id)?.is_none();
    Ok(if is_new { guess } else { known })
}
