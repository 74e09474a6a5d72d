use std::collections::HashMap;

use kagetsu_game::{Claim, Move, Position, Symmetry, Variant};

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

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns a node.
    #[must_use]
    pub fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// Returns the answer of a node to a reply. For boards with the symmetries of a square.
    #[must_use]
    pub fn answer(&self, variant: Variant, at: Reference, reply: Move) -> Option<Reference> {
        let node = self.node(at.node);
        let own = variant.image(reply, variant.inverse(at.turn));
        let named = node.replies.binary_search_by_key(&own, |(m, _)| *m);
        let next = named.map_or(node.otherwise, |at| Some(node.replies[at].1))?;
        Some(next.turned(at.turn))
    }

    /// Adds the nodes of a tree, and returns the number of its root.
    pub fn load(&mut self, tree: &Tree) -> u32 {
        let mut numbers = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let moved = |next: Reference| Reference {
                node: numbers[next.node as usize],
                ..next
            };
            let replies = node.replies.iter();
            let node = Node {
                at: node.at,
                replies: replies.map(|(m, next)| (*m, moved(*next))).collect(),
                otherwise: node.otherwise.map(moved),
            };
            numbers.push(self.add(node));
        }
        numbers.last().copied().unwrap_or_default()
    }

    /// Returns the number of a node that plays as another one under a symmetry, adding it if it is
    /// new. For boards with the symmetries of a square.
    pub fn upright(&mut self, variant: Variant, at: Reference) -> u32 {
        if at.turn == Symmetry::IDENTITY {
            return at.node;
        }
        let image = |m: Move| variant.image(m, at.turn);
        let node = self.node(at.node);
        let replies = node.replies.iter();
        let mut replies: Vec<(Move, Reference)> = replies
            .map(|(m, next)| (image(*m), next.turned(at.turn)))
            .collect();
        replies.sort_unstable_by_key(|(m, _)| *m);
        let node = Node {
            at: node.at.map(image),
            replies,
            otherwise: node.otherwise.map(|next| next.turned(at.turn)),
        };
        self.add(node)
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
            let moved = |next: Reference| Reference {
                node: numbers[next.node as usize],
                ..next
            };
            let node = &self.nodes[number];
            let replies = node
                .replies
                .iter()
                .map(|(m, next)| (*m, moved(*next)))
                .collect();
            let node = Node {
                at: node.at,
                replies,
                otherwise: node.otherwise.map(moved),
            };
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
