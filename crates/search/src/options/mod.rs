pub(crate) mod constants;
pub(crate) mod text;

use crate::{Constants, Evaluation};

/// Settings of an [`Engine`](crate::Engine).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Threads that search one question, at least 1. With one thread the answers are reproducible.
    pub threads: usize,
    /// Memory of the transposition table in bytes; less than one entry switches the table off.
    pub table_bytes: usize,
    /// Values of stones in surakarta.
    pub constants: Constants,
    /// Empty cells around a stone that are candidates.
    pub neighbourhood: Neighbourhood,
    /// Most candidates searched where nothing forces, the best first; at least 1. `usize::MAX`
    /// means every empty cell of the board.
    pub candidates: usize,
    /// Whether shallow searches order the root moves and fill the table before deeper ones.
    /// Without, a question with a depth is searched to that depth at once, in the order of the
    /// evaluation, for comparison.
    pub seed: bool,
    /// Fours tried by the VCF search at a leaf; 0 switches it off.
    pub leaf_fours: u32,
    /// Whether unpromising moves are reduced or left out. Without, every candidate is searched to
    /// the same depth, as in the documents that Kagetsu grew from.
    pub selective: bool,
    /// Whether a selective search begins with a VCT search.
    pub vct: bool,
    /// Division of work between threads.
    pub split: ThreadSplit,
    /// Most stones of end tables that the search uses, if [some](crate::give_end_tables) were
    /// given; 0 for none.
    pub end_tables: u8,
    /// Weights of gomoku for one rule, where they are not the engine's own. The text form leaves
    /// them out.
    pub evaluation: Option<Evaluation>,
}

impl Default for EngineOptions {
    /// Returns the settings of one thread and 64 MiB.
    fn default() -> Self {
        Self {
            threads: 1,
            table_bytes: 64 << 20,
            constants: Constants::Own,
            neighbourhood: Neighbourhood::Square24,
            candidates: 40,
            seed: true,
            leaf_fours: 40,
            selective: true,
            vct: true,
            split: ThreadSplit::Shared,
            end_tables: *crate::END_TABLE_PIECES.end(),
            evaluation: None,
        }
    }
}

/// Division of work between the threads of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadSplit {
    /// Each thread searches the whole position, and all share one table (lazy SMP).
    #[default]
    Shared,
    /// The root moves are divided: first the best so far, then the others in parallel with its
    /// bound, as in the documents that Kagetsu grew from.
    Seeded,
}

/// Empty cells around a stone that are candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbourhood {
    /// The 8 adjacent cells and the 4 at two steps on the diagonals, as the paper prints it.
    Paper12,
    /// All within two columns and two rows.
    #[default]
    Square24,
}

impl Neighbourhood {
    /// Returns the cells around a stone, as (columns, rows) from it.
    #[must_use]
    pub fn offsets(self) -> Vec<(i8, i8)> {
        let square = (-2..=2).flat_map(|y| (-2..=2).map(move |x| (x, y)));
        square
            .filter(|&(x, y)| (x, y) != (0, 0) && self.has(x, y))
            .collect()
    }

    fn has(self, x: i8, y: i8) -> bool {
        let (columns, rows) = (x.abs(), y.abs());
        self == Self::Square24 || columns.max(rows) == 1 || columns == rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_tell_how_many_cells() {
        let count = |neighbourhood: Neighbourhood| neighbourhood.offsets().len();
        assert_eq!(count(Neighbourhood::Paper12), 12);
        assert_eq!(count(Neighbourhood::Square24), 24);
    }
}
