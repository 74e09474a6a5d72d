use std::collections::HashSet;
use std::io::BufRead;

use kagetsu_game::{
    Answer, Claim, Move, Position, Proof, ProofKind, Provenance, Symmetry, Verdict,
};

use kagetsu_certificate::{Reference, Tree, TreeFault};

use crate::packed::{MAGIC_WORD, unpacked};

/// A win tree from which the winner's moves are looked up. It is not checked: see
/// [`kagetsu_certificate::check`].
#[derive(Clone, Debug)]
pub struct ProofBook {
    tree: Tree,
    /// Upper bound of the game's length from each node.
    plies: Vec<u16>,
}

/// Stones that a path through the tree has not explained yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rest {
    own: Vec<Move>,
    foe: Vec<Move>,
    /// Whether the loser is to move at the end of the path.
    is_reply: bool,
}

impl ProofBook {
    /// Reads a tree as a book, packed by xz or not; `None` if the text is no win tree.
    ///
    /// # Errors
    /// If the source cannot be read, or the tree is malformed.
    pub fn read(source: &mut dyn BufRead) -> Result<Option<Self>, TreeFault> {
        let unreadable = |error| TreeFault::unreadable(1, &error);
        let mut source = unpacked(source).map_err(unreadable)?;
        if !source
            .fill_buf()
            .map_err(unreadable)?
            .starts_with(MAGIC_WORD)
        {
            return Ok(None);
        }
        Self::new(Tree::read(&mut *source)?).map(Some)
    }

    /// Returns the book of a tree.
    ///
    /// # Errors
    /// If the tree is longer than it claims.
    pub fn new(tree: Tree) -> Result<Self, TreeFault> {
        let plies = tree.node_plies()?;
        Ok(Self { tree, plies })
    }

    /// Returns the proven position.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.tree.position
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.tree.nodes().len() as u64
    }

    /// Returns what the tree proves about a position that it reaches, in any order of moves and in
    /// any orientation: the winner's move, or each reply of the loser as a loss; from the view of
    /// the side to move. In games other than gomoku the moves must be those of the tree.
    #[must_use]
    pub fn lookup(&self, position: &Position) -> Option<Answer> {
        let is_winner = position.side() == self.tree.winner();
        let claim = if is_winner { Claim::Win } else { Claim::Loss };
        let moves = self.moves(position)?.into_iter();
        Some(
            moves
                .map(|(m, plies)| (m, verdict(m, Proof::new(claim, ProofKind::Tree, plies))))
                .collect(),
        )
    }

    /// Returns the winner's move, or the loser's legal replies, at a position that the tree
    /// reaches, with the plies within which the game ends.
    fn moves(&self, position: &Position) -> Option<Vec<(Move, u16)>> {
        let variant = position.variant();
        if variant != self.tree.position.variant() || position.outcome().is_some() {
            return None;
        }
        let is_reply = position.side() != self.tree.winner();
        if variant.gomoku().is_none() {
            let at = self.node_of_line(position)?;
            return self.moves_at(position, at, Symmetry::IDENTITY);
        }
        let begun = self.tree.position.stones()?;
        let stones = position.stones()?;
        let code = self.tree.winner().index();
        variant.symmetries().find_map(|turn| {
            let image = |stones: &[Move]| -> Vec<Move> {
                stones.iter().map(|m| variant.image(*m, turn)).collect()
            };
            let rest = Rest {
                own: without(image(&stones[code]), &begun[code])?,
                foe: without(image(&stones[1 - code]), &begun[1 - code])?,
                is_reply,
            };
            self.moves_at(position, self.begin(rest)?, turn)
        })
    }

    /// Returns the moves at a position that a node reaches under a symmetry.
    fn moves_at(
        &self,
        position: &Position,
        at: Reference,
        turn: Symmetry,
    ) -> Option<Vec<(Move, u16)>> {
        let variant = position.variant();
        if position.side() == self.tree.winner() {
            let node = &self.tree.nodes()[at.node as usize];
            let seen = variant.image(node.at?, at.turn);
            let m = variant.image(seen, variant.inverse(turn));
            return Some(vec![(m, self.plies[at.node as usize])]);
        }
        let replies = position.legal_moves().into_iter().map(|reply| {
            let next = self.next(at, variant.image(reply, turn))?;
            let plies = self.plies[next.node as usize].saturating_add(1);
            Some((reply, plies))
        });
        replies.collect()
    }

    /// Looks for a path from the root that explains the stones, and returns the node at its end:
    /// the one whose move comes next, or the one that was just played.
    fn begin(&self, rest: Rest) -> Option<Reference> {
        let root = self.tree.root();
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
    ) -> Option<Reference> {
        let variant = self.tree.position.variant();
        let node = &self.tree.nodes()[at.node as usize];
        let m = variant.image(node.at?, at.turn);
        if rest.own.is_empty() && rest.foe.is_empty() && !rest.is_reply {
            return Some(at);
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
    ) -> Option<Reference> {
        if rest.own.is_empty() && rest.foe.is_empty() && rest.is_reply {
            return Some(at);
        }
        (0..rest.foe.len()).find_map(|reply| {
            let mut rest = rest.clone();
            let m = rest.foe.remove(reply);
            self.walk(self.next(at, m)?, rest, failed)
        })
    }

    /// Returns the answer of a node to a reply.
    fn next(&self, at: Reference, reply: Move) -> Option<Reference> {
        let variant = self.tree.position.variant();
        let node = &self.tree.nodes()[at.node as usize];
        let own = variant.image(reply, variant.inverse(at.turn));
        Some(node.answer(own)?.turned(at.turn))
    }

    /// Returns the node whose move comes next after the moves of a position, or the one that was
    /// just played.
    fn node_of_line(&self, position: &Position) -> Option<Reference> {
        let begun = &self.tree.position;
        let moves = position.moves().strip_prefix(begun.moves())?;
        if position.setup() != begun.setup() {
            return None;
        }
        let (mut at, mut is_winner) = (self.tree.root(), self.tree.claim == Claim::Win);
        for m in moves {
            if !is_winner {
                at = self.next(at, *m)?;
            } else if self.tree.nodes()[at.node as usize].at != Some(*m) {
                return None;
            }
            is_winner = !is_winner;
        }
        Some(at)
    }
}

fn verdict(m: Move, proof: Proof) -> Verdict {
    let by = Provenance {
        engine: "certificate".into(),
        day: 0,
    };
    Verdict::proven(proof, vec![m], 0, by)
}

/// Returns the stones without some others, if all of these are among them.
fn without(mut stones: Vec<Move>, others: &[Move]) -> Option<Vec<Move>> {
    for other in others {
        let at = stones.iter().position(|stone| stone == other)?;
        stones.remove(at);
    }
    Some(stones)
}
