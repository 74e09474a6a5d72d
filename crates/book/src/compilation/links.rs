//! The links among the positions of a book that is compiled.

/// A link from a position to another one, by their numbers.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Centi-units by which the move is worse than the best, at most [`MAX_LOSS`].
    pub(crate) loss: u16,
}

/// Loss of a move without a value, in centi-units.
pub(crate) const MAX_LOSS: u16 = 1_000;

/// The held positions that each position leads to, by their numbers.
pub(crate) struct Links {
    /// For each position, the index of its first link; the number of all links last.
    starts: Vec<usize>,
    children: Vec<(u32, u16)>,
}

impl Links {
    /// Sorts links by the position that they begin at. All numbers are below `positions`.
    pub(crate) fn new(positions: usize, links: &[Link]) -> Self {
        let mut starts = vec![0; positions + 1];
        for link in links {
            starts[link.from as usize + 1] += 1;
        }
        for at in 0..positions {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut children = vec![(0, 0); links.len()];
        for link in links {
            let at = &mut next[link.from as usize];
            children[*at] = (link.to, link.loss);
            *at += 1;
        }
        Self { starts, children }
    }

    /// Returns the positions that a position leads to, and the losses of the moves.
    pub(crate) fn children(&self, position: usize) -> &[(u32, u16)] {
        &self.children[self.starts[position]..self.starts[position + 1]]
    }

    /// Counts the positions from `root` on, as many as `visits`; says whether there may be more.
    pub(crate) fn count_behind(&self, root: Option<u32>, visits: usize) -> (u64, bool) {
        let mut seen = vec![false; self.starts.len()];
        let mut waiting = Vec::from_iter(root);
        let mut count = 0;
        while let Some(position) = waiting.pop() {
            if count as usize >= visits.max(1) {
                return (count, true);
            }
            count += 1;
            let position = position as usize;
            seen[position] = true;
            for (child, _) in self.children(position) {
                if !std::mem::replace(&mut seen[*child as usize], true) {
                    waiting.push(*child);
                }
            }
        }
        (count, false)
    }
}
