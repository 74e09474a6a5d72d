//! Win trees of a book's proofs, in which the wins found by search are played out.

use anyhow::{Error, Result, bail};
use kagetsu_book::Entry;
use kagetsu_certificate::{Reference, Tree};
use kagetsu_game::{Claim, Move, Outcome, Position, Proof, ProofKind};

use crate::ProofSource;
use crate::open_positions::{OpenPosition, OpenPositions};
use crate::proof_cache::ProofCache;

mod answers;
mod search;

pub use search::plant;

/// Positions that a known answer may cost for a reply that the book counts as lost because such an
/// answer wins.
pub(crate) const CLAIM_POSITIONS: u64 = 20_000;
/// Positions that the search for the way in which a claim of the book wins may visit.
pub(crate) const SEARCH_POSITIONS: u64 = 400_000;

/// Positions that the search for a win that no proof of the book promises may visit.
const GUIDED_POSITIONS: u64 = 50_000;

/// The result of growing a tree.
#[derive(Clone, Debug)]
pub enum GrownTree {
    /// The tree.
    Whole(Tree),
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

    /// Returns the win tree of a position.
    ///
    /// # Errors
    /// If the book has proven no win of it, if a win is not found again, or if the book cannot be
    /// read.
    pub fn tree(&mut self, position: &Position) -> Result<Tree> {
        let claim = self.claim(position)?;
        let root = match (self.cache.pool.known.get(position), claim) {
            (Some(given), _) => self.cache.pool.upright(given),
            (None, Claim::Win) if self.proof(position)?.is_none() => {
                let guide = self.cache.guides.get(position);
                let node = self.unproven(None, position, guide)?;
                self.cache.pool.upright(node)
            }
            (None, Claim::Win) => self.node(position, None)?,
            (None, _) => {
                let guide = self.cache.guides.get(position);
                self.answers(None, position, guide)?
            }
        };
        Ok(self.cache.pool.dag.tree(root, position.clone(), claim))
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
            grown => grown.map(GrownTree::Whole),
        }
    }

    /// Returns the result of a position by the given trees or the book.
    fn claim(&self, position: &Position) -> Result<Claim> {
        if self.cache.pool.known.get(position).is_some() {
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
        let known = self.cache.pool.known.get(position);
        if let Some(node) = known.or_else(|| self.cache.like(position, guide)) {
            self.cache.pool.known.insert(position, node);
            return Ok(self.cache.pool.note(position, node));
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
        if self.proof(position)?.is_none() {
            return self.unproven(Some(before), position, guide);
        }
        let node = self.node(position, guide)?;
        let node = self.cache.pool.note(position, Reference::to(node));
        self.cache.pool.known.insert(position, node);
        Ok(node)
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
        // A trusted guide comes here at the root alone.
        let is_followed =
            |guide: &Reference| self.cache.trusts_guides || self.cache.pool.is_quiet(*guide);
        if !is_lost && let Some(guide) = guide.filter(is_followed) {
            match self.follow(position, guide) {
                Err(error) if self.may_search() && error.is::<OpenPosition>() => {}
                followed => return followed,
            }
        }
        let nodes = if is_lost {
            self.cache.nodes
        } else {
            self.cache.nodes.min(GUIDED_POSITIONS)
        };
        if nodes == 0 {
            return Err(OpenPosition::new(position.clone(), nodes).into());
        }
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
        Ok(self.cache.pool.note(position, Reference::to(node)))
    }

    /// Whether a win is searched where a guide fails.
    fn may_search(&self) -> bool {
        self.open.is_none() && self.cache.nodes > 0
    }

    /// Returns a node that makes the move of a guide and answers each reply.
    fn follow(&mut self, position: &Position, guide: Reference) -> Result<Reference> {
        let at = self.cache.pool.own_move(guide);
        let next = at.and_then(|m| Some((m, position.play(m).ok()?)));
        let node = match next.map(|(m, next)| (m, next.outcome(), next)) {
            Some((m, None, next)) => self.answers(Some(m), &next, Some(guide))?,
            Some((m, Some(Outcome::Win(side)), _)) if side == position.side() => {
                self.cache.pool.add_last(m)
            }
            _ => return Err(OpenPosition::new(position.clone(), 0).into()),
        };
        let node = self.cache.pool.note(position, Reference::to(node));
        self.cache.pool.known.insert(position, node);
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
            return Ok(self.cache.pool.add_last(m));
        }
        if self
            .proof(&next)?
            .is_none_or(|proof| proof.claim != Claim::Loss)
        {
            return self.search(position, self.cache.nodes);
        }
        let guide = self.cache.guide_of_move(position, m, guide);
        self.answers(Some(m), &next, guide)
    }
}

/// Returns the proof of an entry, unless it is of kind `manual`.
fn proof_of(entry: &Entry) -> Option<Proof> {
    entry
        .derived
        .proof
        .filter(|proof| proof.kind != ProofKind::Manual)
}

#[cfg(test)]
mod tests;
