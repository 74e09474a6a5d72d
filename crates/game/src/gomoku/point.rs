use super::around::MARGIN;
use super::geometry::MAX_SIZE;
use crate::{Move, Symmetry};

/// Rows, columns, and the two kinds of diagonals of the largest board.
pub(super) const LINES: usize = 2 * MAX_SIZE + 2 * (2 * MAX_SIZE - 1);

/// A point of the board: column and row, counted from 0 at `a1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The column.
    pub x: u8,
    /// The row.
    pub y: u8,
}

impl Point {
    /// Returns the point of a move on a board of `size` columns; off the board if the move is.
    #[must_use]
    pub const fn of(m: Move, size: u8) -> Self {
        Self {
            x: (m.code() % size as u16) as u8,
            y: (m.code() / size as u16) as u8,
        }
    }

    /// Returns the move that puts a stone here.
    #[must_use]
    pub const fn as_move(self, size: u8) -> Move {
        Move::new(self.y as u16 * size as u16 + self.x as u16)
    }

    /// Returns the point `steps` away in a direction, numbered as in [`Around`](super::Around). May
    /// be off the board.
    #[must_use]
    pub const fn along(self, direction: usize, steps: i8) -> Self {
        let (x, y) = match direction {
            0 => (steps, 0),
            1 => (0, steps),
            2 => (steps, steps),
            _ => (steps, -steps),
        };
        Self {
            x: self.x.wrapping_add_signed(x),
            y: self.y.wrapping_add_signed(y),
        }
    }

    /// Whether another point is at most five steps away in a direction, or the same.
    pub(super) const fn is_near(self, other: Self) -> bool {
        let (x, y) = (self.x.abs_diff(other.x), self.y.abs_diff(other.y));
        x <= MARGIN && y <= MARGIN && (x == 0 || y == 0 || x == y)
    }

    /// Returns the image under `symmetry`.
    pub(super) const fn image(self, size: u8, symmetry: Symmetry) -> Self {
        let (x, y) = symmetry.square(size, self.x, self.y);
        Self { x, y }
    }

    /// Returns, for each direction, the line through the point (less than [`LINES`]) and the place
    /// on it.
    pub(super) const fn places(self) -> [(usize, u8); 4] {
        const COLUMNS: usize = MAX_SIZE;
        const RISING: usize = 2 * MAX_SIZE;
        const FALLING: usize = 4 * MAX_SIZE - 1;
        let (x, y) = (self.x as usize, self.y as usize);
        [
            (y, self.x),
            (COLUMNS + x, self.y),
            (RISING + x + MAX_SIZE - 1 - y, self.x),
            (FALLING + x + y, self.x),
        ]
    }
}
