use std::sync::OnceLock;

use super::kind::{Cross, Kind, shapes};
use super::shape::{SHAPES, Shape};
use crate::Constants;

/// What crosses are worth by one set of constants.
#[derive(Debug)]
pub(super) struct Weights {
    /// For the player who may put a stone there.
    pub(super) values: Box<[i32]>,
    /// Percent by which the opponent's values are taken: more than 100 defends first.
    pub(super) defence: i32,
}

/// Values of the shapes that one more stone makes, from [`Shape::Dead`] to [`Shape::Five`].
const fn line_values(constants: Constants) -> [i32; SHAPES] {
    match constants {
        Constants::Own => [0, 1, 3, 5, 12, 14, 45, 50, 160, 400],
        Constants::Paper => [0, 1, 2, 5, 20, 15, 200, 200, 1_000_000, 9_999_999],
        Constants::Patent => [0, 1, 1, 1, 10, 10, 100, 100, 1_000, 10_000],
        Constants::Blog => [0, 1, 10, 10, 100, 100, 1_000, 1_000, 10_000, 100_000],
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
    /// The weights of a set, made once.
    pub(super) fn of(constants: Constants) -> &'static Self {
        static SETS: [OnceLock<Weights>; 4] = [const { OnceLock::new() }; 4];
        SETS[constants as usize].get_or_init(|| Self::new(constants))
    }

    fn new(constants: Constants) -> Self {
        let line = line_values(constants);
        let value = |cross: Cross| {
            let shapes = shapes(cross)?;
            let kind = super::kind::BY_CROSS[usize::from(cross)];
            Some(shapes.map(|shape: Shape| line[shape as usize]).iter().sum::<i32>() + compound(constants, kind))
        };
        let defence = if matches!(constants, Constants::Patent) { 110 } else { 100 };
        Self { values: (0..=Cross::MAX).map(|cross| value(cross).unwrap_or(0)).collect(), defence }
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
