use std::collections::HashSet;
use std::fmt;

use kagetsu_certificate::{Node, Tree};
use serde::Serialize;

/// Marks the nodes from which the winner plays nothing but threats. A move is a threat if the
/// answer to most replies, as to a pass, is a five, or a sequence of threats to make five.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreatNodes {
    /// Whether the move ends the game.
    fives: Vec<bool>,
    /// Whether each move ends the game or threatens to.
    fours: Vec<bool>,
    threats: Vec<bool>,
}

impl ThreatNodes {
    /// Adds the next node, which refers to earlier ones.
    pub(crate) fn push(&mut self, node: &Node) {
        let is_five = node.at.is_some() && node.references().next().is_none();
        let is_sequence = |next: &[bool], all: &[bool]| {
            let is_threat = node.otherwise.is_some_and(|most| next[most.node as usize]);
            node.at.is_some() && is_threat && node.references().all(|next| all[next.node as usize])
        };
        let is_four = is_five || is_sequence(&self.fives, &self.fours);
        let is_threat = is_five || is_sequence(&self.fours, &self.threats);
        self.fives.push(is_five);
        self.fours.push(is_four);
        self.threats.push(is_threat);
    }

    /// Returns the number of nodes.
    pub(crate) const fn len(&self) -> usize {
        self.threats.len()
    }

    /// Whether the winner plays nothing but threats from a node on.
    ///
    /// # Panics
    /// If the node was not added.
    pub(crate) fn contains(&self, node: u32) -> bool {
        self.threats[node as usize]
    }
}

/// The nodes of a tree by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeCounts {
    /// All nodes.
    pub nodes: usize,
    /// Nodes from which the winner does not play threats alone.
    pub quiet: usize,
    /// The first nodes of the sequences of threats behind them.
    pub sequences: usize,
}

impl NodeCounts {
    /// Returns the numbers of nodes of a tree.
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        let mut threats = ThreatNodes::default();
        let mut sequences = HashSet::new();
        let mut quiet = 0;
        for (node, number) in tree.nodes().iter().zip(0..) {
            threats.push(node);
            if !threats.contains(number) {
                quiet += 1;
                let next = node.references().map(|next| next.node);
                sequences.extend(next.filter(|&next| threats.contains(next)));
            }
        }
        let is_sequence = quiet == 0 && !tree.nodes().is_empty();
        Self {
            nodes: tree.nodes().len(),
            quiet,
            sequences: sequences.len() + usize::from(is_sequence),
        }
    }
}

impl fmt::Display for NodeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            nodes,
            quiet,
            sequences,
        } = self;
        write!(
            f,
            "{nodes} nodes: {quiet} quiet ones, {sequences} sequences of threats behind them"
        )
    }
}
