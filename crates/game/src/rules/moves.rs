/// A move, in the same two bytes everywhere: in the table, on the wire, in the book.
///
/// Gomoku: the cell, `row * size + column`, `a1` being 0. Xiangqi and surakarta: `from * cells + to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(u16);

impl Move {
    /// No move; never legal, and the only use of it is to fill a fixed-size place (a table entry).
    pub const NONE: Self = Self(u16::MAX);

    /// The move with this code. Whether it is a move of some game is that game's to say.
    #[must_use]
    pub const fn new(code: u16) -> Self {
        Self(code)
    }

    /// The two bytes.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.0
    }

    /// The code as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
