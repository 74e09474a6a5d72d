/// A symmetry of the board, by number; 0 is the identity. The variant defines the others
/// ([`Variant::image`](crate::Variant::image)).
///
/// On square boards bit 0 mirrors the columns, bit 1 mirrors the rows, and bit 2 swaps columns and
/// rows before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The identity.
    pub const IDENTITY: Self = Self(0);

    /// Returns the symmetry with this number.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Returns its number, less than
    /// [`Variant::symmetries`](crate::Variant::symmetries)`().count()`.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the image of the point (`column`, `row`) of a square board.
    #[must_use]
    pub const fn square(self, size: u8, column: u8, row: u8) -> (u8, u8) {
        let (mut x, mut y) = if self.0 & 4 == 0 {
            (column, row)
        } else {
            (row, column)
        };
        if self.0 & 1 != 0 {
            x = size - 1 - x;
        }
        if self.0 & 2 != 0 {
            y = size - 1 - y;
        }
        (x, y)
    }

    /// Returns the inverse on a square board.
    #[must_use]
    pub const fn square_inverse(self) -> Self {
        // Quarter turns (a swap and one mirror) are inverse to each other, all others to
        // themselves.
        match self.0 {
            5 => Self(6),
            6 => Self(5),
            n => Self(n),
        }
    }

    /// Returns the symmetry of a square board that does this one and then another.
    #[must_use]
    pub const fn then(self, other: Self) -> Self {
        // A swap after mirrors exchanges them.
        let swapped = (self.0 & 1) << 1 | (self.0 & 2) >> 1;
        let mirrors = if other.0 & 4 == 0 {
            self.0 & 3
        } else {
            swapped
        };
        Self((self.0 & 4) ^ (other.0 & 4) | mirrors ^ (other.0 & 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_compose_and_have_inverses() {
        for (first, second) in (0..8).flat_map(|first| (0..8).map(move |second| (first, second))) {
            let (first, second) = (Symmetry::new(first), Symmetry::new(second));
            assert_eq!(first.then(first.square_inverse()), Symmetry::IDENTITY);
            for (x, y) in (0..7).flat_map(|x| (0..7).map(move |y| (x, y))) {
                let (u, v) = first.square(7, x, y);
                let both = first.then(second).square(7, x, y);
                assert_eq!(both, second.square(7, u, v), "{first:?} {second:?}");
            }
        }
    }
}
