pub(crate) mod features;
pub(crate) mod text;

use crate::Features;

/// How an [`Engine`](crate::Engine) is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Threads that search one question, at least 1. With one the answers are the same every time.
    pub threads: usize,
    /// Memory of the transposition table; less than one entry switches the table off.
    pub table_bytes: usize,
    /// What patterns or stones are worth; a set of another game stands for Kagetsu's own.
    pub constants: Constants,
    /// Which empty cells are worth a thought.
    pub neighbourhood: Neighbourhood,
    /// How many of them are searched where nothing forces, the most promising first; at least 1. With `usize::MAX` it is
    /// every empty cell, near or not.
    pub candidates: usize,
    /// Whether shallow searches, the 2-ply one among them, order the root moves and fill the table before deeper ones.
    /// Without, a question with a depth is searched to that depth at once, in the order of the opinion: for comparison.
    pub seed: bool,
    /// Fours tried by the search for continuous fours at a leaf; 0 switches it off there.
    pub leaf_fours: u32,
    /// Whether unpromising moves are searched less deeply or not at all. Without, every candidate is searched to the same
    /// depth, as the documents that Kagetsu grew from have it.
    pub selective: bool,
    /// Whether a selective search begins with a search for a win by continuous threats (VCT).
    pub vct: bool,
    /// How threads work together.
    pub split: Split,
    /// Parts of the search that are left out, to measure what they are worth.
    pub without: Features,
}

impl Default for EngineOptions {
    /// One thread and 64 MiB.
    fn default() -> Self {
        Self {
            threads: 1,
            table_bytes: 64 << 20,
            constants: Constants::Own,
            neighbourhood: Neighbourhood::Square24,
            candidates: 20,
            seed: true,
            leaf_fours: 6,
            selective: true,
            vct: true,
            split: Split::Shared,
            without: Features::NONE,
        }
    }
}

/// How the threads of an engine work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Each searches the whole position, and they share what the table learns (lazy SMP).
    #[default]
    Shared,
    /// The root moves are divided: the best so far first, then the others side by side with its bound, as the documents
    /// that Kagetsu grew from have it.
    Seeded,
}

/// Named sets of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Kagetsu's.
    #[default]
    Own,
    /// Gomoku: Zheng and Kuang's paper on a multi-threaded gobang engine, table 1.
    Paper,
    /// Gomoku: Kou Yinghan's patent of 2021.
    Patent,
    /// Gomoku: the blog on kill search by the author of `gobang`, 2016.
    Blog,
    /// Surakarta: what the points under the stones are worth, by Li, Hu and Wang's paper ("Value").
    Matrix,
    /// Surakarta: how many stones there are ("Value-2" of the same paper).
    Count,
    /// Surakarta: both together ("Evalue" of the same paper).
    Evalue,
}

/// Which empty cells around a stone are candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbourhood {
    /// The 8 next to it and the 4 at two steps on the diagonals, as the paper prints it.
    Paper12,
    /// The 8 next to it and the 8 at two steps on its lines.
    Star16,
    /// All within two columns and two rows.
    #[default]
    Square24,
    /// Three steps in all 8 directions, as in the patent: 24 cells too, but others.
    Rays24,
}

impl Neighbourhood {
    /// The cells around a stone, as (columns, rows) from it.
    #[must_use]
    pub fn offsets(self) -> Vec<(i8, i8)> {
        let square = (-3..=3).flat_map(|y| (-3..=3).map(move |x| (x, y)));
        square
            .filter(|&(x, y)| (x, y) != (0, 0) && self.has(x, y))
            .collect()
    }

    fn has(self, x: i8, y: i8) -> bool {
        let (columns, rows) = (x.abs(), y.abs());
        let distance = columns.max(rows);
        let is_on_line = x == 0 || y == 0 || columns == rows;
        match self {
            Self::Paper12 => distance == 1 || distance == 2 && columns == rows,
            Self::Star16 => distance <= 2 && is_on_line,
            Self::Square24 => distance <= 2,
            Self::Rays24 => is_on_line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_tell_how_many_cells() {
        let count = |neighbourhood: Neighbourhood| neighbourhood.offsets().len();
        assert_eq!(count(Neighbourhood::Paper12), 12);
        assert_eq!(count(Neighbourhood::Star16), 16);
        assert_eq!(count(Neighbourhood::Square24), 24);
        assert_eq!(count(Neighbourhood::Rays24), 24);
        assert!(Neighbourhood::Rays24.offsets().contains(&(3, -3)));
        assert!(!Neighbourhood::Rays24.offsets().contains(&(2, 1)));
    }
}
