use std::fmt;

use kagetsu_certificate::Tree;
use kagetsu_game::Position;

/// The size of a win tree, counted in two ways.
#[derive(Clone, Copy, Debug)]
pub struct TreeSize {
    /// Nodes of the tree.
    pub nodes: u64,
    /// Positions of the book with the winner to move, up to symmetry; the rest of the tree are
    /// wins by threats alone.
    pub positions: u64,
}

impl fmt::Display for TreeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, positions } = self;
        write!(
            f,
            "{nodes} nodes; {positions} positions lead to wins by threats alone"
        )
    }
}

/// The result of growing a tree.
#[derive(Clone, Debug)]
pub enum GrownTree {
    /// The tree and its size.
    Whole(Tree, TreeSize),
    /// The positions that keep the tree from being whole, with the winner to move.
    Open(Vec<Position>),
}
