use std::io::{self, Write};

use kagetsu_game::{Claim, Move, Position, Side, Symmetry};

use crate::TreeFault;

/// A node: the winner's move, and the continuation after each reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node {
    /// The move; `None` only at the root of a loss, where the loser is to move.
    pub at: Option<Move>,
    /// Replies with an answer of their own, in ascending order.
    pub replies: Vec<(Move, Reference)>,
    /// The answer to all other replies.
    pub otherwise: Option<Reference>,
}

impl Node {
    /// Returns all references of the node.
    pub fn references(&self) -> impl Iterator<Item = Reference> {
        let named = self.replies.iter().map(|(_, next)| *next);
        named.chain(self.otherwise)
    }

    /// Returns the answer to a reply as the node sees it.
    #[must_use]
    pub fn answer(&self, reply: Move) -> Option<Reference> {
        let named = self.replies.binary_search_by_key(&reply, |(m, _)| *m);
        named.map_or(self.otherwise, |at| Some(self.replies[at].1))
    }

    /// Returns the node with other references.
    pub(crate) fn with_references(&self, moved: impl Fn(Reference) -> Reference) -> Self {
        let replies = self.replies.iter();
        Self {
            at: self.at,
            replies: replies.map(|(m, next)| (*m, moved(*next))).collect(),
            otherwise: self.otherwise.map(&moved),
        }
    }
}

/// A reference to the winner's next node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Index of the node in the tree.
    pub node: u32,
    /// The symmetry to apply to the node's moves.
    pub turn: Symmetry,
}

impl Reference {
    /// Refers to a node under the identity.
    #[must_use]
    pub const fn to(node: u32) -> Self {
        Self {
            node,
            turn: Symmetry::IDENTITY,
        }
    }

    /// Applies one more symmetry of a square board.
    #[must_use]
    pub fn turned(self, turn: Symmetry) -> Self {
        Self {
            turn: self.turn.then(turn),
            ..self
        }
    }
}

/// A win tree: the claim and its proof.
///
/// A node is a way to play, not a position: many positions may share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The proven position.
    pub position: Position,
    /// Win or loss, from the view of the side to move.
    pub claim: Claim,
    /// Upper bound of the game's length.
    pub plies: u16,
    /// All nodes, each after those that it refers to; the last is the root.
    pub(crate) nodes: Vec<Node>,
    /// Line of the first node in the file.
    pub(crate) first_line: u64,
}

/// The first line of a file.
pub(crate) const MAGIC: &str = "kagetsu-proof 1";

/// Lines before the first node, where the position has no setup.
pub(crate) const HEAD: u64 = 4;

impl Tree {
    /// Returns the nodes, the root last.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the side that wins.
    #[must_use]
    pub fn winner(&self) -> Side {
        let side = self.position.side();
        if self.claim == Claim::Win {
            side
        } else {
            side.other()
        }
    }

    /// Returns a reference to the root.
    #[must_use]
    pub fn root(&self) -> Reference {
        Reference::to(self.nodes.len() as u32 - 1)
    }

    /// Returns an upper bound of the game's length from each node.
    ///
    /// # Errors
    /// If the game may last longer than claimed, or is over.
    pub fn node_plies(&self) -> Result<Vec<u16>, TreeFault> {
        let mut plies: Vec<u16> = Vec::with_capacity(self.nodes.len());
        for (node, line) in self.nodes.iter().zip(self.first_line..) {
            let below = node.references().map(|next| plies[next.node as usize]);
            let own = u16::from(node.at.is_some());
            let total = below
                .max()
                .map_or(own, |below| below.saturating_add(1 + own));
            if total > self.plies {
                let what = format!(
                    "the game may last {total} plies, and {} are claimed",
                    self.plies
                );
                return Err(TreeFault::at(line, what));
            }
            plies.push(total);
        }
        if let Some(outcome) = self.position.outcome() {
            let what = format!("the game is over in {}: {outcome:?}", self.position);
            return Err(TreeFault::at(self.first_line - 2, what));
        }
        Ok(plies)
    }

    /// Writes the tree as text; see `FORMAT.md`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = &self.position;
        writeln!(out, "{MAGIC}\nvariant {}", position.variant())?;
        if let Some(setup) = position.setup() {
            write!(out, "setup ")?;
            setup
                .0
                .iter()
                .try_for_each(|byte| write!(out, "{byte:02x}"))?;
            writeln!(out)?;
        }
        write!(out, "position")?;
        position
            .moves()
            .iter()
            .try_for_each(|&m| write!(out, " {}", position.write_move(m)))?;
        writeln!(out, "\nclaim {} {}", self.claim, self.plies)?;
        for (node, number) in self.nodes.iter().zip(1..) {
            write!(out, "{number} ")?;
            self.write_node(node, out)?;
        }
        writeln!(out, "end {}", self.nodes.len())
    }

    fn write_node(&self, node: &Node, out: &mut dyn Write) -> io::Result<()> {
        match node.at {
            Some(m) => write!(out, "{}", self.position.write_move(m))?,
            None => write!(out, "-")?,
        }
        let mut groups: Vec<(Reference, Vec<Move>)> = Vec::new();
        for (m, next) in &node.replies {
            match groups.iter_mut().find(|(at, _)| at == next) {
                Some((_, moves)) => moves.push(*m),
                None => groups.push((*next, vec![*m])),
            }
        }
        for (next, moves) in groups {
            let names: Vec<_> = moves.iter().map(|&m| self.position.write_move(m)).collect();
            write!(out, " {}>{}", names.join(","), name(next))?;
        }
        if let Some(next) = node.otherwise {
            write!(out, " *>{}", name(next))?;
        }
        writeln!(out)
    }
}

fn name(next: Reference) -> String {
    match next.turn.number() {
        0 => (next.node + 1).to_string(),
        turn => format!("{}/{turn}", next.node + 1),
    }
}
