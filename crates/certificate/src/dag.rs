use std::collections::HashMap;

use kagetsu_game::{Claim, Position};

use crate::tree::{HEAD, Node, Reference, Tree};

/// A shared graph of nodes from which win trees are taken; equal nodes are stored once.
#[derive(Clone, Debug, Default)]
pub struct ProofDag {
    pub(crate) nodes: Vec<Node>,
    known: HashMap<Node, u32>,
    /// Upper bound of the game's length from each node.
    pub(crate) plies: Vec<u16>,
}

impl ProofDag {
    /// Returns the number of a node, adding it if it is new. It may refer to nodes added before.
    ///
    /// # Panics
    /// If it refers to an unknown node.
    pub fn add(&mut self, node: Node) -> u32 {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let below = node
            .references()
            .map(|next| self.plies[next.node as usize])
            .max();
        let own = u16::from(node.at.is_some());
        let number = self.nodes.len() as u32;
        self.plies
            .push(below.map_or(own, |below| below.saturating_add(1 + own)));
        self.nodes.push(node.clone());
        self.known.insert(node, number);
        number
    }

    /// Returns all nodes, each after those that it refers to.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns a node.
    #[must_use]
    pub fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// Adds the nodes of a tree, and returns the number of its root.
    pub fn load(&mut self, tree: &Tree) -> u32 {
        let mut numbers = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let node = node.with_references(|next| Reference {
                node: numbers[next.node as usize],
                ..next
            });
            numbers.push(self.add(node));
        }
        numbers.last().copied().unwrap_or_default()
    }

    /// Returns the upper bound of the game's length from a node.
    #[must_use]
    pub fn plies(&self, number: u32) -> u16 {
        self.plies[number as usize]
    }

    /// Returns the tree below a node, without unrelated nodes. `claim` is from the view of the side
    /// to move.
    #[must_use]
    pub fn tree(&self, root: u32, position: Position, claim: Claim) -> Tree {
        let mut needed = vec![false; root as usize + 1];
        needed[root as usize] = true;
        for number in (0..=root as usize).rev() {
            if needed[number] {
                self.nodes[number]
                    .references()
                    .for_each(|next| needed[next.node as usize] = true);
            }
        }
        let (mut numbers, mut nodes) = (vec![0; needed.len()], Vec::new());
        for number in (0..needed.len()).filter(|&number| needed[number]) {
            let node = self.nodes[number].with_references(|next| Reference {
                node: numbers[next.node as usize],
                ..next
            });
            numbers[number] = nodes.len() as u32;
            nodes.push(node);
        }
        let first_line = HEAD + 1 + u64::from(position.setup().is_some());
        Tree {
            position,
            claim,
            plies: self.plies(root),
            nodes,
            first_line,
        }
    }
}
