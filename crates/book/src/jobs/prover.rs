//! Proof-number order over the positions of a job (Allis, van der Meulen and van den Herik: "Proof-number search", 1994;
//! as jobs: Wu, Lin, Sun, Lin and Yen, "Job-level proof number search", 2010).
//!
//! The proof number of a position says how many positions must at least be proven to prove that the attacker wins, the
//! disproof number how many to show that he does not, in what the job follows. Both are weak ones (Ueda, Hashimoto,
//! Hashimoto and Iida, 2008): instead of the sum over the children, their greatest number and a little for each other child.
//! A position that was not searched has the numbers that the answer before it makes likely.
//! They follow from facts, links and frontier alone, and so are kept in memory: an answer makes those of its position and
//! of all that lead to it be computed again.

use std::collections::{BTreeMap, HashMap};

use kagetsu_game::{Claim, Score, Side};

use crate::BookError;
use crate::graph::id::Id;
use crate::graph::index::Index;
use crate::graph::node::Node;

/// The number of what cannot be.
const NEVER: u32 = u32::MAX / 4;

/// An opinion by so many centi-units worse for the attacker means one position more to be proven: what is left open by his
/// moves is told so where they are asked for as wins.
const CENTI: u32 = 20;

/// What the attacker's answer to a reply that was not refuted at once is likely to take.
const REPLY: u32 = 4;

/// So many replies later in the order one is one position harder to disprove: the best defence is searched first.
const RANKS: usize = 4;

/// So many others beside the dearest make one position more: most of them fall to what has beaten another.
const OTHERS: u32 = 2;

/// So many positions that were searched behind a move of the attacker and have not paid make it dearer by one: else a search may
/// stay for thousands with forcing moves that leave but one reply each time, while a quiet one would win at once.
const UNPAID: u32 = 30;

/// What a position costs that is to be searched once more, for moves that have no value: dearer than a new one.
const AGAIN: u32 = 4;

/// How many positions must at least be proven, and disproven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) proof: u32,
    pub(crate) disproof: u32,
    /// Positions searched on all ways on that are still open; one that is reached in several ways counts for each.
    pub(crate) effort: u32,
}

impl Numbers {
    const PROVEN: Self = Self {
        proof: 0,
        disproof: NEVER,
        effort: 0,
    };
    const DISPROVEN: Self = Self {
        proof: NEVER,
        disproof: 0,
        effort: 0,
    };
    const NEW: Self = Self {
        proof: 1,
        disproof: 1,
        effort: 0,
    };

    /// Of a position that was not searched, the `rank`th of those that a node leads to by a move of this worth.
    fn new(attacks: bool, score: Score, rank: usize) -> Self {
        if attacks {
            return Self {
                proof: 1 + u32::from(score.raw().min(0).unsigned_abs()) / CENTI,
                ..Self::NEW
            };
        }
        Self {
            proof: REPLY,
            disproof: 1 + (rank / RANKS) as u32,
            ..Self::NEW
        }
    }

    fn is_open(self) -> bool {
        self.proof > 0 && self.disproof > 0 && self.proof < NEVER
    }

    /// As the side to move sees them: the number that it minimises, and the one that adds up.
    fn seen(self, attacks: bool) -> (u32, u32) {
        if attacks {
            (self.proof, self.disproof)
        } else {
            (self.disproof, self.proof)
        }
    }
}

/// Where a position is searched next.
enum Choice {
    /// The position itself.
    Here,
    /// One that it leads to.
    Child(Id),
}

/// The order in which a job looks for a win of one side.
#[derive(Debug)]
pub(crate) struct Prover {
    job: u32,
    attacker: Side,
    roots: Vec<Id>,
    numbers: HashMap<Id, Numbers>,
    /// The way to each position at hand, the position first.
    ways: HashMap<Id, Vec<Id>>,
    /// How many ways lead over a position.
    busy: HashMap<Id, u32>,
}

impl Prover {
    pub(crate) fn new(job: u32, attacker: Side, roots: Vec<Id>) -> Self {
        Self {
            job,
            attacker,
            roots,
            numbers: HashMap::new(),
            ways: HashMap::new(),
            busy: HashMap::new(),
        }
    }

    /// Something is new about a position: what was concluded from it is forgotten.
    pub(crate) fn forget(&mut self, index: &mut Index, id: Id) -> Result<(), BookError> {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.numbers.remove(&id).is_some() {
                left.extend(index.reach(id)?.parents());
            }
        }
        Ok(())
    }

    pub(crate) fn forget_all(&mut self) {
        self.numbers.clear();
    }

    /// A position is at hand, whoever took it.
    pub(crate) fn hold(&mut self, id: Id) {
        self.ways.entry(id).or_default();
    }

    /// A position is not at hand any more.
    pub(crate) fn release(&mut self, id: Id) {
        for at in self.ways.remove(&id).unwrap_or_default() {
            if let Some(busy) = self.busy.get_mut(&at) {
                *busy -= 1;
                if *busy == 0 {
                    self.busy.remove(&at);
                }
            }
        }
    }

    /// The position that is to be searched next, which is at hand from now on.
    pub(crate) fn take(&mut self, index: &mut Index) -> Result<Option<Id>, BookError> {
        let mut open = Vec::with_capacity(self.roots.len());
        for root in self.roots.clone() {
            let numbers = self.numbers(index, root)?;
            if numbers.is_open() {
                open.push((
                    self.busy.get(&root).copied().unwrap_or(0),
                    numbers.proof,
                    root,
                ));
            }
        }
        open.sort_unstable();
        for (.., root) in open {
            let mut way = Vec::new();
            if self.descend(index, root, &mut way)? {
                way.reverse();
                way.iter()
                    .for_each(|at| *self.busy.entry(*at).or_default() += 1);
                let found = way.first().copied();
                found.and_then(|found| self.ways.insert(found, way));
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Goes down to a position that waits and is not at hand, by the least numbers; `way` is how. What others are at work
    /// on counts as so much dearer.
    fn descend(&self, index: &mut Index, id: Id, way: &mut Vec<Id>) -> Result<bool, BookError> {
        way.push(id);
        let waits = index.reach(id)?.waiting(self.job).is_some() && !self.ways.contains_key(&id);
        let Some(node) = index.node(id)? else {
            if !waits {
                way.pop();
            }
            return Ok(waits);
        };
        let attacks = node.side == self.attacker;
        let mut choices = Vec::new();
        if waits {
            choices.push((AGAIN, 0, Choice::Here));
        }
        for (at, (child, score)) in self.children(index, id, &node)?.into_iter().enumerate() {
            let numbers = self.numbers.get(&child).copied().unwrap_or(Numbers::NEW);
            let numbers = expected(index, child, numbers, || Numbers::new(attacks, score, at))?;
            if numbers.is_open() {
                let busy = self.busy.get(&child).copied().unwrap_or(0);
                let unpaid = if attacks { numbers.effort / UNPAID } else { 0 };
                let number = numbers
                    .seen(attacks)
                    .0
                    .saturating_add(busy)
                    .saturating_add(unpaid);
                choices.push((number, 1 + at, Choice::Child(child)));
            }
        }
        choices.sort_by_key(|(number, at, _)| (*number, *at));
        for (.., choice) in choices {
            match choice {
                Choice::Here => return Ok(true),
                Choice::Child(child) => {
                    if self.descend(index, child, way)? {
                        return Ok(true);
                    }
                }
            }
        }
        way.pop();
        Ok(false)
    }

    /// The positions that a node leads to, those after its best moves first, and what was said of these moves.
    fn children(
        &self,
        index: &mut Index,
        id: Id,
        node: &Node,
    ) -> Result<Vec<(Id, Score)>, BookError> {
        let mut children: Vec<(Id, Score)> = Vec::with_capacity(node.followed.len());
        for (m, verdict) in node.facts.verdicts() {
            if let Some(child) = node.child(*m)
                && index.reach(child)?.is_from(id)
                && children.iter().all(|(known, _)| *known != child)
            {
                children.push((child, verdict.score));
            }
        }
        Ok(children)
    }

    fn numbers(&mut self, index: &mut Index, id: Id) -> Result<Numbers, BookError> {
        if let Some(known) = self.numbers.get(&id) {
            return Ok(*known);
        }
        let numbers = self.compute(index, id)?;
        self.numbers.insert(id, numbers);
        Ok(numbers)
    }

    fn compute(&mut self, index: &mut Index, id: Id) -> Result<Numbers, BookError> {
        let is_aside = index.reach(id)?.is_aside(self.job);
        let Some(node) = index.node(id)? else {
            let is_beyond = id.stones() > index.job(self.job)?.most_stones;
            return Ok(if is_aside || is_beyond {
                Numbers::DISPROVEN
            } else {
                Numbers::NEW
            });
        };
        let attacks = node.side == self.attacker;
        let value = index.value(id)?;
        if let Some(proof) = value.and_then(|value| value.proof) {
            let claim = if attacks {
                proof.claim
            } else {
                proof.claim.negated()
            };
            return Ok(if claim == Claim::Win {
                Numbers::PROVEN
            } else {
                Numbers::DISPROVEN
            });
        }
        let (mut least, mut greatest, mut others, mut effort) = (NEVER, 0, 0, 1_u32);
        let mut count = |(minimised, added): (u32, u32)| {
            least = least.min(minimised);
            if added > 0 {
                others += u32::from(greatest > 0);
                greatest = greatest.max(added);
            }
        };
        if !is_aside && value.is_some_and(|value| value.is_open) {
            count((AGAIN, AGAIN));
        }
        for (rank, (child, score)) in self.children(index, id, &node)?.into_iter().enumerate() {
            let numbers = self.numbers(index, child)?;
            effort = effort.saturating_add(numbers.effort);
            count(
                expected(index, child, numbers, || Numbers::new(attacks, score, rank))?
                    .seen(attacks),
            );
        }
        // Without a way on, nothing can be proven here.
        if least == NEVER && greatest == 0 {
            return Ok(Numbers::DISPROVEN);
        }
        let added = greatest.saturating_add(others / OTHERS).min(NEVER);
        let (proof, disproof) = if attacks {
            (least, added)
        } else {
            (added, least)
        };
        Ok(Numbers {
            proof,
            disproof,
            effort,
        })
    }
}

/// The numbers of a position; where it was not searched and is not left out, what those who lead to it expect.
fn expected(
    index: &mut Index,
    id: Id,
    numbers: Numbers,
    guess: impl FnOnce() -> Numbers,
) -> Result<Numbers, BookError> {
    Ok(if numbers == Numbers::NEW && index.node(id)?.is_none() {
        guess()
    } else {
        numbers
    })
}

/// The provers of a book's jobs.
pub(crate) type Provers = BTreeMap<u32, Prover>;
