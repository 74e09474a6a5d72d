use std::sync::OnceLock;

use super::fitted::{self, CLASSES, Fitted, class};
use super::kind::{CellKind, Cross, shapes};
use super::shape::{SHAPES, Shape};
use crate::Constants;
use kagetsu_game::{RuleName, Side};

/// Slots for classes. A power of two makes index checks cheap.
const ROOM: usize = CLASSES.next_power_of_two();

/// Properties of a cross in 32 bits: its kind, its class, and its value in centi-units for the side
/// that may put a stone there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gomoku) struct CellGrade(u32);

impl CellGrade {
    fn new(value: i32, class: usize, kind: CellKind) -> Self {
        let value = value.clamp(i16::MIN.into(), i16::MAX.into()) as u32;
        Self(value << 16 | (class as u32) << 4 | kind as u32)
    }

    #[inline]
    pub(in crate::gomoku) const fn kind(self) -> CellKind {
        CellKind::of((self.0 & 0xf) as usize)
    }

    /// Returns the class of the cross, below [`CLASSES`].
    #[inline]
    pub(in crate::gomoku) const fn class(self) -> usize {
        (self.0 >> 4 & 0xfff) as usize
    }

    #[inline]
    pub(in crate::gomoku) const fn value(self) -> i32 {
        self.0 as i32 >> 16
    }
}

/// Values of crosses for one side, by one set of constants.
#[derive(Debug)]
pub(in crate::gomoku) struct CellWeights {
    /// By cross.
    pub(in crate::gomoku) grades: Box<[CellGrade; 1 << 16]>,
    /// Worth of a class for the move order by shapes, from 0 to 4,095.
    promises: Box<[u16; ROOM]>,
    /// By the threats of both sides, in centi-units for the side to move; see `Board::flags`.
    pub(in crate::gomoku) threats: Box<[i16]>,
    /// Weight of the opponent's values in percent: more than 100 favours defence.
    pub(in crate::gomoku) defence: i32,
}

/// Values of the shapes, in their order. Forbidden shapes are worth nothing.
const fn line_values(constants: Constants) -> [i32; SHAPES] {
    match constants {
        Constants::Paper => [0, 1, 2, 5, 20, 15, 200, 200, 1_000_000, 9_999_999, 0, 0],
        Constants::Patent => [0, 1, 1, 1, 10, 10, 100, 100, 1_000, 10_000, 0, 0],
        Constants::Blog => [0, 1, 10, 10, 100, 100, 1_000, 1_000, 10_000, 100_000, 0, 0],
        _ => [0, 1, 3, 5, 12, 14, 45, 50, 160, 400, 0, 0],
    }
}

/// Value of a compound threat beyond its lines, by [`CellKind`]. The paper's "killer" is `10000 *
/// (1 + fours)`.
const fn compound(constants: Constants, kind: CellKind) -> i32 {
    match (constants, kind) {
        (Constants::Own, CellKind::DoubleThree) => 60,
        (Constants::Own, CellKind::FourThree) => 110,
        (Constants::Own, CellKind::Winning) => 100,
        (Constants::Paper, CellKind::DoubleThree) => 10_000,
        (Constants::Paper, CellKind::FourThree) => 20_000,
        (Constants::Paper, CellKind::Winning) => 30_000,
        _ => 0,
    }
}

impl CellWeights {
    /// Returns the weights of a set for one side, computed once. A set of another game stands for
    /// Kagetsu's own.
    pub(in crate::gomoku) fn of(constants: Constants, rule: RuleName, side: Side) -> &'static Self {
        static SETS: [[[OnceLock<CellWeights>; 2]; 3]; 4] =
            [const { [const { [const { OnceLock::new() }; 2] }; 3] }; 4];
        let constants = match constants {
            Constants::Paper | Constants::Patent | Constants::Blog => constants,
            _ => Constants::Own,
        };
        let set = &SETS[constants as usize][rule as usize][side.index()];
        set.get_or_init(|| {
            let fitted = (constants == Constants::Own).then(|| Fitted::of(rule, side));
            Self::new(constants, rule, side, fitted)
        })
    }

    /// Returns weights with the fitted values of a side.
    pub(super) fn fitted(fitted: Fitted, rule: RuleName, side: Side) -> Self {
        Self::new(Constants::Own, rule, side, Some(fitted))
    }

    fn new(constants: Constants, rule: RuleName, side: Side, fitted: Option<Fitted>) -> Self {
        let is_judged = rule == RuleName::Renju && side == Side::First;
        let line = line_values(constants);
        let mut promises = Box::new([0; ROOM]);
        let mut grade = |cross: Cross| {
            let kind = CellKind::of_cross(cross, is_judged);
            let shapes = shapes(cross).filter(|_| kind != CellKind::Forbidden);
            let made = shapes.map_or(0, |shapes| {
                shapes
                    .map(|shape: Shape| line[shape as usize])
                    .iter()
                    .sum::<i32>()
                    + compound(constants, kind)
            });
            let value = fitted
                .as_ref()
                .map_or(made, |fitted| fitted.value(cross).into());
            promises[class(cross)] = made.clamp(0, 0xfff) as u16;
            CellGrade::new(value, class(cross), kind)
        };
        let threats = fitted
            .as_ref()
            .map_or_else(|| vec![0; fitted::FLAGS], |fitted| fitted.threats.to_vec());
        let defence = if matches!(constants, Constants::Patent) {
            110
        } else {
            100
        };
        let grades = (0..=Cross::MAX)
            .map(&mut grade)
            .collect::<Box<[CellGrade]>>();
        Self {
            grades: grades.try_into().expect("one for each cross"),
            promises,
            threats: threats.into(),
            defence,
        }
    }

    /// Returns the worth of a cell for the move order by shapes, from 0 to 4,095.
    #[inline]
    pub(in crate::gomoku) fn promise(&self, grade: CellGrade) -> i32 {
        self.promises[grade.class() % ROOM].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stronger_shapes_are_worth_no_less() {
        use Shape::{Five, Four, OpenFour, OpenThree, OpenTwo, SleepingThree, SleepingTwo};
        for constants in [
            Constants::Own,
            Constants::Paper,
            Constants::Patent,
            Constants::Blog,
        ] {
            let value = |shape: Shape| line_values(constants)[shape as usize];
            let order = [
                (Five, OpenFour),
                (OpenFour, Four),
                (Four, SleepingThree),
                (OpenThree, OpenTwo),
            ];
            let order = order
                .into_iter()
                .chain([(OpenTwo, SleepingTwo), (OpenThree, SleepingThree)]);
            for (more, less) in order {
                assert!(
                    value(more) > value(less),
                    "{constants:?}: {more:?} over {less:?}"
                );
            }
            assert_eq!(value(Shape::Dead), 0);
        }
    }

    #[test]
    fn grade_returns_its_parts() {
        for (value, class) in [(0, 0), (-32_768, CLASSES - 1), (32_767, 17), (-1, 1)] {
            let grade = CellGrade::new(value, class, CellKind::FourThree);
            assert_eq!(
                (grade.value(), grade.class(), grade.kind()),
                (value, class, CellKind::FourThree)
            );
        }
        assert_eq!(CellGrade::new(9_999_999, 0, CellKind::Five).value(), 32_767);
    }
}
