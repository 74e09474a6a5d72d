use std::collections::HashSet;

use kagetsu_game::{Claim, Move, Position, Side, Symmetry};

use crate::check::plies_of;
use crate::tree::{Reference, Tree, both};
use crate::{ProvenMove, TreeFault};

/// A win tree from which the winner's moves are looked up. It is not checked: see [`crate::check`].
#[derive(Clone, Debug)]
pub struct ProofBook {
    tree: Tree,
    /// Upper bound of the game's length from each node.
    plies: Vec<u16>,
    winner: Side,
}

/// Stones that a path through the tree has not explained yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rest {
    own: Vec<Move>,
    foe: Vec<Move>,
}

impl ProofBook {
    /// Returns the book of a tree.
    ///
    /// # Errors
    /// If the tree is longer than it claims.
    pub fn new(tree: Tree) -> Result<Self, TreeFault> {
        let plies = plies_of(&tree)?;
        let side = tree.position.side();
        let winner = if tree.claim == Claim::Win {
            side
        } else {
            side.other()
        };
        Ok(Self {
            tree,
            plies,
            winner,
        })
    }

    /// Returns the proven position.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.tree.position
    }

    /// Returns the winner's move in a position that the tree reaches, in any order of moves
    /// and in any orientation; `None` for other positions. In games other than gomoku the moves
    /// must be those of the tree.
    #[must_use]
    pub fn answer(&self, position: &Position) -> Option<ProvenMove> {
        let variant = position.variant();
        if variant != self.tree.position.variant() || position.side() != self.winner {
            return None;
        }
        if variant.gomoku().is_none() {
            return self.answer_to_line(position);
        }
        let begun = self.tree.position.stones()?;
        let stones = position.stones()?;
        let code = self.winner.index();
        variant.symmetries().find_map(|turn| {
            let image = |stones: &[Move]| -> Vec<Move> {
                stones.iter().map(|m| variant.image(*m, turn)).collect()
            };
            let rest = Rest {
                own: without(image(&stones[code]), &begun[code])?,
                foe: without(image(&stones[1 - code]), &begun[1 - code])?,
            };
            let found = self.begin(rest)?;
            Some(ProvenMove {
                at: variant.image(found.at, variant.inverse(turn)),
                ..found
            })
        })
    }

    /// Looks for a path from the root that explains the stones.
    fn begin(&self, rest: Rest) -> Option<ProvenMove> {
        let root = Reference::to(self.tree.nodes.len() as u32 - 1);
        let mut failed = HashSet::new();
        match self.tree.claim {
            Claim::Win => self.walk(root, rest, &mut failed),
            _ => self.after_replies(root, &rest, &mut failed),
        }
    }

    fn walk(
        &self,
        at: Reference,
        mut rest: Rest,
        failed: &mut HashSet<(Reference, Rest)>,
    ) -> Option<ProvenMove> {
        let variant = self.tree.position.variant();
        let node = &self.tree.nodes[at.node as usize];
        let m = variant.image(node.at?, at.turn);
        if rest.own.is_empty() && rest.foe.is_empty() {
            let plies = self.plies[at.node as usize];
            return Some(ProvenMove { at: m, plies });
        }
        let own = rest.own.iter().position(|stone| *stone == m)?;
        if failed.contains(&(at, rest.clone())) {
            return None;
        }
        let key = (at, rest.clone());
        rest.own.remove(own);
        let found = self.after_replies(at, &rest, failed);
        if found.is_none() {
            failed.insert(key);
        }
        found
    }

    /// Tries each stone of the loser as the reply to a node.
    fn after_replies(
        &self,
        at: Reference,
        rest: &Rest,
        failed: &mut HashSet<(Reference, Rest)>,
    ) -> Option<ProvenMove> {
        (0..rest.foe.len()).find_map(|reply| {
            let mut rest = rest.clone();
            let m = rest.foe.remove(reply);
            self.walk(self.next(at, m)?, rest, failed)
        })
    }

    /// Returns the answer of a node to a reply.
    fn next(&self, at: Reference, reply: Move) -> Option<Reference> {
        let variant = self.tree.position.variant();
        let node = &self.tree.nodes[at.node as usize];
        let own = variant.image(reply, variant.inverse(at.turn));
        let named = node.replies.binary_search_by_key(&own, |(m, _)| *m);
        let next = named.map_or(node.otherwise, |at| Some(node.replies[at].1))?;
        Some(Reference {
            node: next.node,
            turn: both(next.turn, at.turn),
        })
    }

    fn answer_to_line(&self, position: &Position) -> Option<ProvenMove> {
        let begun = &self.tree.position;
        let moves = position.moves().strip_prefix(begun.moves())?;
        if position.setup() != begun.setup() {
            return None;
        }
        let mut at = Reference {
            node: self.tree.nodes.len() as u32 - 1,
            turn: Symmetry::IDENTITY,
        };
        let mut moves = moves.iter().copied();
        if self.tree.claim != Claim::Win {
            at = self.next(at, moves.next()?)?;
        }
        loop {
            let m = self.tree.nodes[at.node as usize].at?;
            let Some(played) = moves.next() else {
                let plies = self.plies[at.node as usize];
                return Some(ProvenMove { at: m, plies });
            };
            if played != m {
                return None;
            }
            at = self.next(at, moves.next()?)?;
        }
    }
}

/// Returns the stones without some others, if all of these are among them.
fn without(mut stones: Vec<Move>, others: &[Move]) -> Option<Vec<Move>> {
    for other in others {
        let at = stones.iter().position(|stone| stone == other)?;
        stones.remove(at);
    }
    Some(stones)
}
