use std::sync::OnceLock;

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{RuleName, Side};

/// What one more stone on an empty cell makes of a line, by what can be completed (greater is stronger).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Shape {
    /// No five can ever come of it.
    Dead,
    /// A stone that can become a sleeping two at best.
    SleepingOne,
    /// A stone that can become an open two.
    OpenOne,
    /// Can become a sleeping three at best: `X_O_O__`.
    SleepingTwo,
    /// Can become an open three: `__OO__`.
    OpenTwo,
    /// Can become a four at best: `XOOO__`.
    SleepingThree,
    /// Can become an open four: `_OOO__`, `_O_OO_`.
    OpenThree,
    /// One completion point: `XOOOO_`, `O_OOO`.
    Four,
    /// Two completion points: `_OOOO_`, `O_OOO_O`.
    OpenFour,
    /// Five.
    Five,
}

pub(super) const SHAPES: usize = 10;

const ALL: [Shape; SHAPES] = [
    Shape::Dead,
    Shape::SleepingOne,
    Shape::OpenOne,
    Shape::SleepingTwo,
    Shape::OpenTwo,
    Shape::SleepingThree,
    Shape::OpenThree,
    Shape::Four,
    Shape::OpenFour,
    Shape::Five,
];

impl Shape {
    /// The shape with this number.
    pub(super) fn of(code: u8) -> Self {
        ALL[usize::from(code)]
    }

    /// The shape of a line that can become `self` with one more stone, and nothing stronger.
    fn one_stone_before(self) -> Self {
        match self {
            Self::Five | Self::OpenFour => Self::OpenThree,
            Self::Four => Self::SleepingThree,
            Self::OpenThree => Self::OpenTwo,
            Self::SleepingThree => Self::SleepingTwo,
            Self::OpenTwo => Self::OpenOne,
            Self::SleepingTwo => Self::SleepingOne,
            Self::OpenOne | Self::SleepingOne | Self::Dead => Self::Dead,
        }
    }
}

/// How far a window reaches on either side: a five holds the centre, and where exactly five wins its neighbours matter.
pub(super) const fn reach<R: Rule>() -> u32 {
    match R::NAME {
        RuleName::Freestyle => 4,
        RuleName::Standard | RuleName::Renju => 5,
    }
}

/// Bit of the centre in a window of 11.
pub(super) const CENTRE: u32 = 5;

/// The shape of every window around an empty cell.
#[derive(Debug)]
pub(super) struct Shapes {
    table: Vec<Shape>,
}

impl Shapes {
    /// The table of a rule, made once.
    pub(super) fn of<R: Rule>() -> &'static Self {
        static TABLES: [OnceLock<Shapes>; 3] = [const { OnceLock::new() }; 3];
        TABLES[R::NAME as usize].get_or_init(Self::new::<R>)
    }

    /// From more stones to fewer, so that what one more stone makes is known already: `own | q > own`.
    fn new<R: Rule>() -> Self {
        let sides = 2 * reach::<R>();
        let mut table = vec![Shape::Dead; 1 << (2 * sides)];
        for own in (0..1u32 << sides).rev() {
            for empty in (0..1u32 << sides).filter(|empty| own & empty == 0) {
                table[(own << sides | empty) as usize] = shape::<R>(&table, own, empty);
            }
        }
        Self { table }
    }

    /// What a stone in the centre makes; windows of 11 bits, the centre's own bits do not count.
    #[inline]
    pub(super) fn get<R: Rule>(&self, own: u32, empty: u32) -> Shape {
        let index = squeeze::<R>(own) << (2 * reach::<R>()) | squeeze::<R>(empty);
        self.table[index as usize]
    }
}

/// The window without its centre and without what lies beyond the reach.
#[inline]
const fn squeeze<R: Rule>(window: u32) -> u32 {
    let reach = reach::<R>();
    let side = (1 << reach) - 1;
    (window >> (CENTRE - reach)) & side | ((window >> (CENTRE + 1)) & side) << reach
}

/// Whether the run through the centre, whose stone is there, is a five. `own` is squeezed.
fn is_five<R: Rule>(own: u32) -> bool {
    let reach = reach::<R>();
    let below = (own << (32 - reach)).leading_ones();
    let above = (own >> reach).trailing_ones();
    R::is_five(Side::First, (below + 1 + above) as usize)
}

fn shape<R: Rule>(table: &[Shape], own: u32, empty: u32) -> Shape {
    let sides = 2 * reach::<R>();
    let stones = (0..sides).map(|bit| 1 << bit).filter(|stone| empty & stone != 0);
    if is_five::<R>(own) {
        return Shape::Five;
    }
    match stones.clone().filter(|stone| is_five::<R>(own | stone)).count() {
        0 => stones
            .map(|stone| table[((own | stone) << sides | empty & !stone) as usize].one_stone_before())
            .max()
            .unwrap_or(Shape::Dead),
        1 => Shape::Four,
        _ => Shape::OpenFour,
    }
}

/// Bits of the window of 11 where a second stone completes five with the one in the centre.
pub(super) fn completions<R: Rule>(own: u32, empty: u32) -> impl Iterator<Item = u32> {
    let is_completion = move |bit: &u32| empty >> bit & 1 != 0 && is_five::<R>(squeeze::<R>(own | 1 << bit));
    let reach = reach::<R>();
    (CENTRE - reach..=CENTRE + reach).filter(|&bit| bit != CENTRE).filter(is_completion)
}

/// What shapes are by their definition alone; its patterns stand in the order of [`Shape`].
#[cfg(test)]
#[path = "../../../game/tests/patterns/definition.rs"]
#[allow(dead_code, reason = "the classes of fours and threes are not kept here")]
mod definition;

#[cfg(test)]
mod tests {
    use super::definition::{Definition, windows};
    use super::*;
    use kagetsu_game::gomoku::{Freestyle, Standard};

    fn read<R: Rule>(line: &[u8], centre: usize) -> Shape {
        let bits = |wanted: u8| {
            let set = line.iter().zip(0..).filter(|(cell, _)| **cell == wanted);
            set.fold(0u32, |bits, (_, place): (_, u32)| bits | 1 << (place + CENTRE - centre as u32))
        };
        Shapes::of::<R>().get::<R>(bits(b'O'), bits(b'_'))
    }

    fn check_all<R: Rule>() {
        let mut definition = Definition::new(|run| R::is_five(Side::First, run));
        let centre = reach::<R>() as usize;
        for line in windows(reach::<R>()) {
            let letters: Vec<u8> = line.iter().map(|&spot| b"O_X"[spot as usize]).collect();
            let found = read::<R>(&letters, centre) as u8;
            let defined = definition.pattern(&line, centre) as u8;
            assert_eq!(found, defined, "{}", String::from_utf8_lossy(&letters));
        }
    }

    #[test]
    fn the_table_is_the_definition_on_every_window_of_freestyle() {
        check_all::<Freestyle>();
    }

    #[test]
    fn the_table_is_the_definition_where_exactly_five_wins() {
        check_all::<Standard>();
    }

    #[test]
    fn known_shapes_have_their_names() {
        let check = |line: &str, centre: usize, freestyle: Shape, standard: Shape| {
            assert_eq!(read::<Freestyle>(line.as_bytes(), centre), freestyle, "freestyle {line}");
            assert_eq!(read::<Standard>(line.as_bytes(), centre), standard, "standard {line}");
        };
        check("X_OOOO___", 4, Shape::OpenFour, Shape::OpenFour);
        check("XXOOOO___", 4, Shape::Four, Shape::Four);
        check("_XO_OOO_O", 4, Shape::OpenFour, Shape::OpenFour);
        check("__O_OOX__", 4, Shape::SleepingThree, Shape::SleepingThree);
        check("___OOO___", 4, Shape::OpenThree, Shape::OpenThree);
        check("_X_OOO_X_", 4, Shape::SleepingThree, Shape::SleepingThree);
        check("X_OO_O_X_", 3, Shape::OpenThree, Shape::OpenThree);
        check("XX_OOO_XX", 4, Shape::SleepingThree, Shape::SleepingThree);
        check("XX_OO_XXX", 4, Shape::Dead, Shape::Dead);
        check("_OOOOOO__", 4, Shape::Five, Shape::Dead);
        check("____O____", 4, Shape::OpenOne, Shape::OpenOne);
        check("___OO____", 4, Shape::OpenTwo, Shape::OpenTwo);
    }
}
