//! The order in which a job that looks for a proof searches positions: depth first, to the hardest
//! reply of the defender and to the attacker's best move, by [proof numbers](super::proof_number).
//!
//! The numbers follow from records, links and frontier alone, so they are kept in memory only. An
//! answer discards those of its position and of all positions that lead to it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kagetsu_game::{Claim, Side, Verdict};

use super::proof_number::{AttackingMove, INFINITE, NEW_REPLY, ProofNumber};
use super::selection::{Frontier, Selection};
use crate::BookError;
use crate::graph::id::Id;
use crate::graph::node::Node;

/// A step of the descent to the position that is searched next.
enum Step {
    /// The position itself is searched, for the first time or for further moves.
    Stop,
    /// A child is looked at, with the guess for the attacker's last move.
    Child(Id, u32),
}

/// Chooses by proof numbers.
#[derive(Debug)]
pub(super) struct ProofOrder {
    job: u32,
    attacker: Side,
    roots: Vec<Id>,
    numbers: HashMap<Id, ProofNumber>,
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
    pub(super) fn new(job: u32, attacker: Side, roots: Vec<Id>) -> Self {
        Self {
            job,
            attacker,
            roots,
            numbers: HashMap::new(),
            paths: HashMap::new(),
            busy: HashMap::new(),
        }
    }

    /// Takes the position that is to be searched next.
    fn most_proving(&mut self, frontier: &mut dyn Frontier) -> Result<Option<Id>, BookError> {
        let mut open = Vec::with_capacity(self.roots.len());
        for root in self.roots.clone() {
            let number = self.number(frontier, root)?.with_guess(NEW_REPLY);
            if is_open(number) {
                open.push((self.busy(root), number, root));
            }
        }
        open.sort_unstable();
        for (.., root) in open {
            let mut path = Vec::new();
            if self.descend(frontier, root, NEW_REPLY, &mut path)? {
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

    /// Descends to a position that waits and is not being searched, and appends the path to it.
    fn descend(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        guess: u32,
        path: &mut Vec<Id>,
    ) -> Result<bool, BookError> {
        path.push(id);
        let steps = match record(frontier, id)? {
            None if self.may_be_searched(frontier, id)? => vec![Step::Stop],
            None => Vec::new(),
            Some(node) if node.side == self.attacker => self.moves(frontier, id, &node)?,
            Some(node) => self.replies(frontier, id, &node, guess)?,
        };
        for step in steps {
            match step {
                Step::Stop => return Ok(true),
                Step::Child(child, guess) => {
                    if self.descend(frontier, child, guess, path)? {
                        return Ok(true);
                    }
                }
            }
        }
        path.pop();
        Ok(false)
    }

    /// Whether a position waits and is not being searched.
    fn may_be_searched(&self, frontier: &mut dyn Frontier, id: Id) -> Result<bool, BookError> {
        let waits = frontier.reach(id)?.waiting(self.job).is_some();
        Ok(waits && !self.paths.contains_key(&id))
    }

    /// Returns the steps from a position of the attacker, the one of the least number first. Each
    /// search that is under way below a move adds 1 to its number.
    fn moves(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        node: &Node,
    ) -> Result<Vec<Step>, BookError> {
        let is_root = self.roots.contains(&id);
        let children = children(frontier, id, node)?;
        let known: Vec<AttackingMove> = children
            .iter()
            .map(|(child, verdict)| AttackingMove::new(verdict, self.known(*child), is_root))
            .collect();
        let mut steps = Vec::new();
        for ((child, _), known) in children.iter().zip(&known) {
            if is_open(known.number()) {
                let number = known.number() + self.busy(*child);
                steps.push((number, Step::Child(*child, known.guess())));
            }
        }
        if !self.paths.contains_key(&id)
            && let Some(number) = self.next_move(frontier, id, node, &known)?
        {
            steps.push((number, Step::Stop));
        }
        steps.sort_by_key(|(number, _)| *number);
        Ok(steps.into_iter().map(|(_, step)| step).collect())
    }

    /// Returns the steps from a position of the defender, to the hardest reply first. Each search
    /// that is under way below a reply takes 1 from its number, so that searches spread.
    fn replies(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        node: &Node,
        guess: u32,
    ) -> Result<Vec<Step>, BookError> {
        if self.may_be_searched(frontier, id)? {
            return Ok(vec![Step::Stop]);
        }
        let mut steps = Vec::new();
        for (child, _) in children(frontier, id, node)? {
            let number = self.known(child).with_guess(guess);
            if is_open(number) {
                let left = number.saturating_sub(self.busy(child));
                steps.push((Reverse(left), Step::Child(child, guess)));
            }
        }
        steps.sort_by_key(|(number, _)| *number);
        Ok(steps.into_iter().map(|(_, step)| step).collect())
    }

    /// Returns the number of a question for one more move of the attacker at a known position;
    /// `None` where none can be asked for.
    fn next_move(
        &self,
        frontier: &mut dyn Frontier,
        id: Id,
        node: &Node,
        known: &[AttackingMove],
    ) -> Result<Option<u32>, BookError> {
        let is_over =
            frontier.reach(id)?.is_aside(self.job) || id.stones() >= frontier.max_stones()?;
        if is_over || !has_unlisted_moves(node) {
            return Ok(None);
        }
        Ok(Some(AttackingMove::next(known)))
    }

    fn busy(&self, id: Id) -> u32 {
        self.busy.get(&id).copied().unwrap_or(0)
    }

    fn known(&self, id: Id) -> ProofNumber {
        self.numbers.get(&id).copied().unwrap_or(ProofNumber::NEW)
    }

    fn number(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<ProofNumber, BookError> {
        if let Some(known) = self.numbers.get(&id) {
            return Ok(*known);
        }
        let number = self.compute(frontier, id)?;
        self.numbers.insert(id, number);
        Ok(number)
    }

    fn compute(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<ProofNumber, BookError> {
        let is_skipped = frontier.reach(id)?.is_aside(self.job);
        let Some(node) = record(frontier, id)? else {
            let is_beyond = id.stones() > frontier.max_stones()?;
            return Ok(if is_skipped || is_beyond {
                ProofNumber::IMPOSSIBLE
            } else {
                ProofNumber::NEW
            });
        };
        let is_attack = node.side == self.attacker;
        if let Some(proof) = frontier.value(id)?.and_then(|value| value.proof) {
            let wins = if is_attack { Claim::Win } else { Claim::Loss };
            return Ok(if proof.claim == wins {
                ProofNumber::PROVEN
            } else {
                ProofNumber::IMPOSSIBLE
            });
        }
        let children = children(frontier, id, &node)?;
        let mut numbers = Vec::with_capacity(children.len());
        for (child, _) in &children {
            numbers.push(self.number(frontier, *child)?);
        }
        if is_attack {
            let is_root = self.roots.contains(&id);
            let known = children.iter().zip(numbers);
            let known: Vec<AttackingMove> = known
                .map(|((_, verdict), after)| AttackingMove::new(verdict, after, is_root))
                .collect();
            let next = self.next_move(frontier, id, &node, &known)?;
            return Ok(if known.is_empty() && next.is_some() {
                ProofNumber::NEW
            } else {
                ProofNumber::of_attacker(&known, next)
            });
        }
        let waits = frontier.reach(id)?.waiting(self.job).is_some();
        let unlisted = waits.then_some(ProofNumber::NEW);
        Ok(ProofNumber::of_defender(
            numbers.into_iter().chain(unlisted),
        ))
    }
}

/// Whether a position with this number is neither proven nor given up.
fn is_open(number: u32) -> bool {
    (1..INFINITE).contains(&number)
}

/// Returns the record of a position; `None` also for one that only tells which moves were made.
fn record(frontier: &mut dyn Frontier, id: Id) -> Result<Option<Arc<Node>>, BookError> {
    Ok(frontier.node(id)?.filter(|node| !node.is_silent()))
}

/// Whether a legal move of a position has no exact value yet, up to symmetry.
fn has_unlisted_moves(node: &Node) -> bool {
    let verdicts = node.facts.verdicts().iter();
    let exact = verdicts.filter(|(_, verdict)| verdict.is_exact()).count();
    let legal = node.position.legal_moves().len();
    // Symmetry makes at most eight moves one.
    exact < legal && (exact * 8 < legal || exact < node.position.distinct_moves().len())
}

/// The positions that a node leads to, each with the verdict on its move, best first.
fn children<'a>(
    frontier: &mut dyn Frontier,
    id: Id,
    node: &'a Node,
) -> Result<Vec<(Id, &'a Verdict)>, BookError> {
    let mut children = Vec::with_capacity(node.followed.len());
    let mut seen = HashSet::new();
    // The followed moves have the order of the verdicts.
    let mut followed = node.followed.iter().peekable();
    for (m, verdict) in node.facts.verdicts() {
        if let Some((_, child)) = followed.next_if(|(at, _)| at == m)
            && seen.insert(*child)
            && frontier.reach(*child)?.is_from(id)
        {
            children.push((*child, verdict));
        }
    }
    Ok(children)
}
