use std::io::{self, Write};

use kagetsu_game::{Claim, Move, Position, Symmetry};

/// A node of the winner: one move, and how to go on after each reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node {
    /// The move; `None` at the root of a loss alone, where the loser is to move.
    pub at: Option<Move>,
    /// Replies of the loser that are answered in their own way, ascending, each once.
    pub replies: Vec<(Move, Reference)>,
    /// The answer to all other replies.
    pub otherwise: Option<Reference>,
}

impl Node {
    /// All that the node refers to.
    pub(crate) fn references(&self) -> impl Iterator<Item = Reference> {
        self.replies
            .iter()
            .map(|(_, next)| *next)
            .chain(self.otherwise)
    }
}

/// The node by which the winner goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Its place in the tree, counted from 0.
    pub node: u32,
    /// How its moves are to be turned: a move m of it stands for m's image.
    pub turn: Symmetry,
}

impl Reference {
    /// To a node as it stands.
    #[must_use]
    pub const fn to(node: u32) -> Self {
        Self {
            node,
            turn: Symmetry::IDENTITY,
        }
    }
}

/// A win tree: what is claimed, and how it is won.
///
/// The nodes are a way to play, not positions: many positions may share one, and one is where it has been played to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Where it begins.
    pub position: Position,
    /// Win or loss, from the view of the side to move.
    pub claim: Claim,
    /// The game ends within so many plies.
    pub plies: u16,
    /// No node refers to itself or to a later one; the last is the root.
    pub(crate) nodes: Vec<Node>,
    /// The line of the file that the first node stands in.
    pub(crate) first_line: u64,
}

/// The first line of a file.
pub(crate) const MAGIC: &str = "kagetsu-proof 1";

/// Lines before the first node, where the position has no setup.
pub(crate) const HEAD: u64 = 4;

impl Tree {
    /// The nodes, the root last.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Writes it as text; see `FORMAT.md`.
    ///
    /// # Errors
    /// If nobody takes it.
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
