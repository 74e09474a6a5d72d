use std::sync::OnceLock;

use super::kind::{Cross, Kind, shapes};
use super::shape::{SHAPES, Shape};
use crate::Constants;

/// What a cross is: its kind, and its worth for the player who may put a stone there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grade(i32);

impl Grade {
    const BITS: u32 = 4;

    const fn new(value: i32, kind: Kind) -> Self {
        Self(value << Self::BITS | kind as i32)
    }

    #[inline]
    pub(super) const fn kind(self) -> Kind {
        Kind::of((self.0 & ((1 << Self::BITS) - 1)) as usize)
    }

    #[inline]
    pub(super) const fn value(self) -> i32 {
        self.0 >> Self::BITS
    }
}

/// What crosses are worth by one set of constants.
#[derive(Debug)]
pub(super) struct Weights {
    /// By cross.
    pub(super) grades: Box<[Grade]>,
    /// Percent by which the opponent's values are taken: more than 100 defends first.
    pub(super) defence: i32,
}

/// Values of the shapes that one more stone makes, in their order; what is forbidden is worth nothing.
const fn line_values(constants: Constants) -> [i32; SHAPES] {
    match constants {
        Constants::Own => [0, 1, 3, 5, 12, 14, 45, 50, 160, 400, 0, 0],
        Constants::Paper => [0, 1, 2, 5, 20, 15, 200, 200, 1_000_000, 9_999_999, 0, 0],
        Constants::Patent => [0, 1, 1, 1, 10, 10, 100, 100, 1_000, 10_000, 0, 0],
        Constants::Blog => [0, 1, 10, 10, 100, 100, 1_000, 1_000, 10_000, 100_000, 0, 0],
    }
}

/// What a compound threat is worth beyond its lines, by [`Kind`]. The paper's "killer" is `10000 * (1 + fours)`.
const fn compound(constants: Constants, kind: Kind) -> i32 {
    match (constants, kind) {
        (Constants::Own, Kind::DoubleThree) => 60,
        (Constants::Own, Kind::FourThree) => 110,
        (Constants::Own, Kind::Winning) => 100,
        (Constants::Paper, Kind::DoubleThree) => 10_000,
        (Constants::Paper, Kind::FourThree) => 20_000,
        (Constants::Paper, Kind::Winning) => 30_000,
        _ => 0,
    }
}

impl Weights {
    /// The weights of a set, made once; `is_judged` for Black in renju.
    pub(super) fn of(constants: Constants, is_judged: bool) -> &'static Self {
        static SETS: [[OnceLock<Weights>; 2]; 4] = [const { [const { OnceLock::new() }; 2] }; 4];
        SETS[constants as usize][usize::from(is_judged)].get_or_init(|| Self::new(constants, is_judged))
    }

    fn new(constants: Constants, is_judged: bool) -> Self {
        let line = line_values(constants);
        let grade = |cross: Cross| {
            let kind = Kind::of_cross(cross, is_judged);
            let value = match shapes(cross) {
                None => 0,
                Some(_) if kind == Kind::Forbidden => 0,
                Some(shapes) => {
                    shapes.map(|shape: Shape| line[shape as usize]).iter().sum::<i32>() + compound(constants, kind)
                }
            };
            Grade::new(value, kind)
        };
        let defence = if matches!(constants, Constants::Patent) { 110 } else { 100 };
        Self { grades: (0..=Cross::MAX).map(grade).collect(), defence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_shape_is_never_worth_less_than_a_weaker_one_of_its_sort() {
        use Shape::{Five, Four, OpenFour, OpenThree, OpenTwo, SleepingThree, SleepingTwo};
        for constants in [Constants::Own, Constants::Paper, Constants::Patent, Constants::Blog] {
            let value = |shape: Shape| line_values(constants)[shape as usize];
            let order = [(Five, OpenFour), (OpenFour, Four), (Four, SleepingThree), (OpenThree, OpenTwo)];
            let order = order.into_iter().chain([(OpenTwo, SleepingTwo), (OpenThree, SleepingThree)]);
            for (more, less) in order {
                assert!(value(more) > value(less), "{constants:?}: {more:?} over {less:?}");
            }
            assert_eq!(value(Shape::Dead), 0);
        }
    }
}
