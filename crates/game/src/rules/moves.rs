/// A move, in two bytes, the same in memory, on the wire and on disk.
///
/// Gomoku: the cell, `row * size + column`, `a1` being 0. Xiangqi and surakarta: `from * cells +
/// to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(u16);

impl Move {
    /// No move: fills empty places of fixed size, and is never legal.
    pub const NONE: Self = Self(u16::MAX);

    /// Returns the move with this code, which need not be legal in any game.
    #[must_use]
    pub const fn new(code: u16) -> Self {
        Self(code)
    }

    /// Returns the code.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.0
    }

    /// Returns the code as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
