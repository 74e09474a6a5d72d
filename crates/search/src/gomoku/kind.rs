use std::sync::LazyLock;

use super::shape::Shape;

/// What a stone on a cell threatens in all four lines together (greater is stronger).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Kind {
    /// Nothing that must be answered.
    Quiet,
    /// One open three.
    Three,
    /// Two or more open threes.
    DoubleThree,
    /// One four.
    Four,
    /// One four and an open three.
    FourThree,
    /// Two completion points or more: an open four or two fours.
    Winning,
    /// Five.
    Five,
}

pub(super) const KINDS: usize = 7;

/// The shapes of a cell's four lines, 4 bits each.
pub(super) type Cross = u16;

/// The kind of every cross.
pub(super) static BY_CROSS: LazyLock<Box<[Kind]>> =
    LazyLock::new(|| (0..=Cross::MAX).map(|cross| shapes(cross).map_or(Kind::Quiet, Kind::of_shapes)).collect());

/// The four shapes; `None` for a number that no cell has.
pub(super) fn shapes(cross: Cross) -> Option<[Shape; 4]> {
    let codes = [0, 1, 2, 3].map(|direction| (cross >> (4 * direction)) as u8 & 0xf);
    codes.iter().all(|&code| code <= Shape::Five as u8).then(|| codes.map(Shape::of))
}

const ALL: [Kind; KINDS] =
    [Kind::Quiet, Kind::Three, Kind::DoubleThree, Kind::Four, Kind::FourThree, Kind::Winning, Kind::Five];

impl Kind {
    /// The kind with this number.
    pub(super) const fn of(number: usize) -> Self {
        ALL[number]
    }

    /// Whether the opponent must answer the completion point at once.
    pub(super) fn is_four(self) -> bool {
        matches!(self, Self::Four | Self::FourThree | Self::Winning)
    }

    fn of_shapes(shapes: [Shape; 4]) -> Self {
        let count = |wanted| shapes.iter().filter(|&&shape| shape == wanted).count();
        let (fours, threes) = (count(Shape::Four), count(Shape::OpenThree));
        match () {
            () if count(Shape::Five) > 0 => Self::Five,
            () if count(Shape::OpenFour) > 0 || fours >= 2 => Self::Winning,
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
        let kind = |shapes: [Shape; 4]| Kind::of_shapes(shapes);
        let (three, four, dead) = (Shape::OpenThree, Shape::Four, Shape::Dead);
        assert_eq!(kind([three, dead, three, dead]), Kind::DoubleThree);
        assert_eq!(kind([four, dead, three, dead]), Kind::FourThree);
        assert_eq!(kind([four, four, dead, dead]), Kind::Winning);
        assert_eq!(kind([four, dead, dead, dead]), Kind::Four);
        assert_eq!(kind([dead, three, dead, dead]), Kind::Three);
        assert_eq!(kind([Shape::Five, four, dead, dead]), Kind::Five);
    }
}
