use super::shape::{SHAPES, Shape};

/// The threat that a stone on a cell makes in all four lines together (greater is stronger).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::gomoku) enum CellKind {
    /// No threat.
    Quiet,
    /// Certainly forbidden in renju: an overline or two fours, and no five.
    Forbidden,
    /// One open three.
    Three,
    /// Two or more open threes. Forbidden to Black in renju unless some of them are no threes by
    /// the rules.
    DoubleThree,
    /// One four and two or more open threes of Black in renju. Forbidden if these are threes by the
    /// rules.
    Tangle,
    /// One four.
    Four,
    /// One four and an open three.
    FourThree,
    /// Two completion points or more: an open four or two fours.
    Winning,
    /// Five.
    Five,
}

/// Number of kinds of cells; the first kind has no weights in the network.
pub const KINDS: usize = 9;

/// The shapes of a cell's four lines, 4 bits each.
pub(in crate::gomoku) type Cross = u16;

/// The four shapes; `None` for a number that no cell has.
pub(in crate::gomoku) fn shapes(cross: Cross) -> Option<[Shape; 4]> {
    let codes = [0, 1, 2, 3].map(|direction| (cross >> (4 * direction)) as u8 & 0xf);
    codes
        .iter()
        .all(|&code| usize::from(code) < SHAPES)
        .then(|| codes.map(Shape::of))
}

const ALL: [CellKind; KINDS] = [
    CellKind::Quiet,
    CellKind::Forbidden,
    CellKind::Three,
    CellKind::DoubleThree,
    CellKind::Tangle,
    CellKind::Four,
    CellKind::FourThree,
    CellKind::Winning,
    CellKind::Five,
];

impl CellKind {
    /// The kind with this number.
    pub(in crate::gomoku) const fn of(number: usize) -> Self {
        ALL[number]
    }

    /// Returns the urgency of a move to the cell, from 0 to 6.
    pub(in crate::gomoku) const fn rank(self) -> i32 {
        const RANKS: [i32; KINDS] = [0, 0, 1, 2, 3, 3, 4, 5, 6];
        RANKS[self as usize]
    }

    /// Whether the opponent must answer the completion point at once.
    pub(in crate::gomoku) const fn is_four(self) -> bool {
        matches!(
            self,
            Self::Tangle | Self::Four | Self::FourThree | Self::Winning
        )
    }

    /// The kind of a cross; `is_judged` for Black in renju.
    pub(in crate::gomoku) fn of_cross(cross: Cross, is_judged: bool) -> Self {
        shapes(cross).map_or(Self::Quiet, |shapes| Self::of_shapes(shapes, is_judged))
    }

    fn of_shapes(shapes: [Shape; 4], is_judged: bool) -> Self {
        let count = |wanted| shapes.iter().filter(|&&shape| shape == wanted).count();
        let (open, fours, threes) = (
            count(Shape::OpenFour),
            count(Shape::Four),
            count(Shape::OpenThree),
        );
        match () {
            () if count(Shape::Five) > 0 => Self::Five,
            () if count(Shape::Overline) + count(Shape::DoubleFour) > 0 => Self::Forbidden,
            () if is_judged && open + fours >= 2 => Self::Forbidden,
            () if is_judged && open + fours == 1 && threes >= 2 => Self::Tangle,
            () if open > 0 || fours >= 2 => Self::Winning,
            () if fours == 1 && threes > 0 => Self::FourThree,
            () if fours == 1 => Self::Four,
            () if threes >= 2 => Self::DoubleThree,
            () if threes == 1 => Self::Three,
            () => Self::Quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threats_are_more_than_one() {
        let kind = |shapes: [Shape; 4]| CellKind::of_shapes(shapes, false);
        let (three, four, dead) = (Shape::OpenThree, Shape::Four, Shape::Dead);
        assert_eq!(kind([three, dead, three, dead]), CellKind::DoubleThree);
        assert_eq!(kind([four, dead, three, dead]), CellKind::FourThree);
        assert_eq!(kind([four, four, dead, dead]), CellKind::Winning);
        assert_eq!(kind([four, dead, dead, dead]), CellKind::Four);
        assert_eq!(kind([dead, three, dead, dead]), CellKind::Three);
        assert_eq!(kind([Shape::Five, four, dead, dead]), CellKind::Five);
    }

    #[test]
    fn renju_forbids_compound_threats_of_black() {
        let kind = |shapes: [Shape; 4]| CellKind::of_shapes(shapes, true);
        let (three, four, open, dead) =
            (Shape::OpenThree, Shape::Four, Shape::OpenFour, Shape::Dead);
        assert_eq!(kind([four, open, dead, dead]), CellKind::Forbidden);
        assert_eq!(
            kind([Shape::DoubleFour, dead, dead, dead]),
            CellKind::Forbidden
        );
        assert_eq!(
            kind([Shape::Overline, open, dead, dead]),
            CellKind::Forbidden
        );
        assert_eq!(
            kind([Shape::Overline, Shape::Five, dead, dead]),
            CellKind::Five
        );
        assert_eq!(kind([open, three, dead, dead]), CellKind::Winning);
        assert_eq!(kind([open, three, three, dead]), CellKind::Tangle);
        assert_eq!(kind([four, three, dead, dead]), CellKind::FourThree);
        assert_eq!(kind([three, three, dead, dead]), CellKind::DoubleThree);
    }
}
