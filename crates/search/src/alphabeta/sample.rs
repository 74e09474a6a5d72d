use kagetsu_game::Move;

/// Some of the leaves of a search, one of every few.
#[derive(Clone, Debug)]
pub(crate) struct LeafSample {
    every: usize,
    /// Leaves seen since the last one that was taken.
    seen: usize,
    /// The moves from the root to each leaf.
    paths: Vec<Vec<Move>>,
}

impl LeafSample {
    /// Returns an empty sample that takes one of `every` leaves.
    pub(crate) const fn new(every: usize) -> Self {
        Self {
            every,
            seen: 0,
            paths: Vec::new(),
        }
    }

    /// Sees the leaf at the end of a path.
    pub(super) fn visit(&mut self, path: &[Move]) {
        self.seen += 1;
        if self.seen >= self.every {
            self.seen = 0;
            self.paths.push(path.to_vec());
        }
    }

    /// Returns the moves from the root to each leaf.
    pub(super) fn into_paths(self) -> Vec<Vec<Move>> {
        self.paths
    }
}
