//! The links among the positions of a book that is compiled.

/// The held positions that each position leads to, by their numbers.
pub(crate) struct Links {
    /// For each position, the index of its first link; the number of all links last.
    starts: Vec<usize>,
    children: Vec<u32>,
}

impl Links {
    /// Sorts links, each from a position to another, by the first. All numbers are below
    /// `positions`.
    pub(crate) fn new(positions: usize, links: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; positions + 1];
        for (from, _) in links {
            starts[*from as usize + 1] += 1;
        }
        for at in 0..positions {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut children = vec![0; links.len()];
        for (from, to) in links {
            let at = &mut next[*from as usize];
            children[*at] = *to;
            *at += 1;
        }
        Self { starts, children }
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
            for child in &self.children[self.starts[position]..self.starts[position + 1]] {
                if !std::mem::replace(&mut seen[*child as usize], true) {
                    waiting.push(*child);
                }
            }
        }
        (count, false)
    }
}
