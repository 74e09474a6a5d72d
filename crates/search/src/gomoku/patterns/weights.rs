use std::sync::OnceLock;

use super::fitted::{CLASSES, Fitted, class};
use super::kind::{CellKind, Cross, shapes};
use super::shape::{SHAPES, Shape};
use crate::networks::weights::places;
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

/// Values of crosses for one side.
#[derive(Debug)]
pub(in crate::gomoku) struct CellWeights {
    /// By cross.
    pub(in crate::gomoku) grades: Box<[CellGrade; 1 << 16]>,
    /// Worth of a class for the move order by shapes, from 0 to 4,095.
    promises: Box<[u16; ROOM]>,
    /// By the threats of both sides, in centi-units for the side to move; see `Board::flags`.
    pub(in crate::gomoku) threats: Box<[i16]>,
}

/// Values of the shapes, in their order. Forbidden shapes are worth nothing.
const LINE_VALUES: [i32; SHAPES] = [0, 1, 3, 5, 12, 14, 45, 50, 160, 400, 0, 0];

/// Value of a compound threat beyond its lines, by [`CellKind`].
const fn compound(kind: CellKind) -> i32 {
    match kind {
        CellKind::DoubleThree => 60,
        CellKind::FourThree => 110,
        CellKind::Winning => 100,
        _ => 0,
    }
}

impl CellWeights {
    /// Returns the engine's own weights of one side, computed once.
    pub(super) fn of(rule: RuleName, side: Side) -> &'static Self {
        static SETS: [OnceLock<CellWeights>; 4] = [const { OnceLock::new() }; 4];
        SETS[places(rule)[side.index()]]
            .get_or_init(|| Self::fitted(Fitted::of(rule, side), rule, side))
    }

    /// Returns weights with the fitted values of a side.
    pub(super) fn fitted(fitted: Fitted, rule: RuleName, side: Side) -> Self {
        let is_judged = rule == RuleName::Renju && side == Side::First;
        let mut promises = Box::new([0; ROOM]);
        let mut grade = |cross: Cross| {
            let kind = CellKind::of_cross(cross, is_judged);
            let shapes = shapes(cross).filter(|_| kind != CellKind::Forbidden);
            let made = shapes.map_or(0, |shapes| {
                shapes
                    .map(|shape: Shape| LINE_VALUES[shape as usize])
                    .iter()
                    .sum::<i32>()
                    + compound(kind)
            });
            let value = fitted.value(cross).into();
            promises[class(cross)] = made.clamp(0, 0xfff) as u16;
            CellGrade::new(value, class(cross), kind)
        };
        let grades = (0..=Cross::MAX)
            .map(&mut grade)
            .collect::<Box<[CellGrade]>>();
        Self {
            grades: grades.try_into().expect("one for each cross"),
            promises,
            threats: fitted.threats.to_vec().into(),
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
        let value = |shape: Shape| LINE_VALUES[shape as usize];
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
            assert!(value(more) > value(less), "{more:?} over {less:?}");
        }
        assert_eq!(value(Shape::Dead), 0);
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
