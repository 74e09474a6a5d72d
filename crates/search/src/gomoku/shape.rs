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

#[cfg(test)]
mod tests {
    use super::*;
    use kagetsu_game::gomoku::{Freestyle, Standard};

    /// The definition, on letters: what can be reached by adding stones, without a table.
    fn brute<R: Rule>(line: &mut Vec<u8>, centre: usize) -> Shape {
        let run = |line: &[u8]| {
            let below = line[..centre].iter().rev().take_while(|&&c| c == b'O').count();
            below + line[centre..].iter().take_while(|&&c| c == b'O').count()
        };
        if R::is_five(Side::First, run(line)) {
            return Shape::Five;
        }
        let mut after = Vec::new();
        for cell in 0..line.len() {
            if line[cell] == b'_' {
                line[cell] = b'O';
                after.push(brute::<R>(line, centre));
                line[cell] = b'_';
            }
        }
        let best = after.iter().copied().max().unwrap_or(Shape::Dead);
        match after.iter().filter(|&&shape| shape == Shape::Five).count() {
            0 => match best {
                Shape::OpenFour => Shape::OpenThree,
                Shape::Four => Shape::SleepingThree,
                Shape::OpenThree => Shape::OpenTwo,
                Shape::SleepingThree => Shape::SleepingTwo,
                Shape::OpenTwo => Shape::OpenOne,
                Shape::SleepingTwo => Shape::SleepingOne,
                _ => Shape::Dead,
            },
            1 => Shape::Four,
            _ => Shape::OpenFour,
        }
    }

    fn read<R: Rule>(line: &[u8], centre: usize) -> Shape {
        let bits = |wanted: u8| {
            let set = line.iter().zip(0..).filter(|(cell, _)| **cell == wanted);
            set.fold(0u32, |bits, (_, place): (_, u32)| bits | 1 << (place + CENTRE - centre as u32))
        };
        Shapes::of::<R>().get::<R>(bits(b'O'), bits(b'_'))
    }

    fn lines(length: usize, centre: usize, stride: usize) -> impl Iterator<Item = Vec<u8>> {
        (0..3usize.pow(length as u32 - 1)).step_by(stride).map(move |mut code| {
            let mut line: Vec<u8> = Vec::new();
            for place in 0..length {
                let cell = if place == centre { b'O' } else { b"_OX"[code % 3] };
                code /= if place == centre { 1 } else { 3 };
                line.push(cell);
            }
            line
        })
    }

    #[test]
    fn the_table_is_the_definition_on_every_window_of_freestyle() {
        // Lines with many empty cells take long by hand; four stones or walls leave few enough, the rest go by 29s.
        for line in lines(9, 4, 1) {
            assert_eq!(read::<Freestyle>(&line, 4), brute_memo::<Freestyle>(&line, 4), "{}", text(&line));
        }
    }

    #[test]
    fn the_table_is_the_definition_where_exactly_five_wins() {
        for line in lines(11, 5, 1) {
            assert_eq!(read::<Standard>(&line, 5), brute_memo::<Standard>(&line, 5), "{}", text(&line));
        }
    }

    /// Four added stones complete any five: deeper recursion changes nothing, so lines with fewer than six empty cells go
    /// through the plain definition and the others through definition plus memory.
    fn brute_memo<R: Rule>(line: &[u8], centre: usize) -> Shape {
        use std::cell::RefCell;
        use std::collections::HashMap;
        thread_local!(static SEEN: RefCell<HashMap<(u8, Vec<u8>), Shape>> = RefCell::new(HashMap::new()));
        let key = (R::NAME as u8, line.to_vec());
        if let Some(shape) = SEEN.with_borrow(|seen| seen.get(&key).copied()) {
            return shape;
        }
        let few = line.iter().filter(|&&cell| cell == b'_').count() < 4;
        let shape = if few { brute::<R>(&mut line.to_vec(), centre) } else { from_children::<R>(line, centre) };
        SEEN.with_borrow_mut(|seen| seen.insert(key, shape));
        shape
    }

    fn from_children<R: Rule>(line: &[u8], centre: usize) -> Shape {
        let below = line[..centre].iter().rev().take_while(|&&c| c == b'O').count();
        let run = below + line[centre..].iter().take_while(|&&c| c == b'O').count();
        if R::is_five(Side::First, run) {
            return Shape::Five;
        }
        let places = (0..line.len()).filter(|&place| line[place] == b'_');
        let after: Vec<Shape> = places
            .map(|place| {
                let mut next = line.to_vec();
                next[place] = b'O';
                brute_memo::<R>(&next, centre)
            })
            .collect();
        match after.iter().filter(|&&shape| shape == Shape::Five).count() {
            0 => after.iter().map(|shape| shape.one_stone_before()).max().unwrap_or(Shape::Dead),
            1 => Shape::Four,
            _ => Shape::OpenFour,
        }
    }

    fn text(line: &[u8]) -> String {
        line.iter().map(|&cell| char::from(cell)).collect()
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
