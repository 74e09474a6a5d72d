use std::sync::OnceLock;

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{RuleName, Side};

/// The shape that one more stone makes on a line, by what it can become (greater is stronger).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::gomoku) enum Shape {
    /// Can never become a five.
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
    /// Two completion points: `_OOOO_`, `O_OOO_O`; for Black in renju the straight four alone.
    OpenFour,
    /// Five.
    Five,
    /// Two fours on one line, `O_OOO_O`, where renju forbids them.
    DoubleFour,
    /// Six or more, where renju forbids them.
    Overline,
}

pub(in crate::gomoku) const SHAPES: usize = 12;

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
    Shape::DoubleFour,
    Shape::Overline,
];

impl Shape {
    /// The shape with this number.
    pub(in crate::gomoku) fn of(code: u8) -> Self {
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
            Self::OpenOne | Self::SleepingOne | Self::Dead | Self::DoubleFour | Self::Overline => {
                Self::Dead
            }
        }
    }
}

/// Reach of a window on either side of the centre: every five with the centre, and its neighbours
/// where an overline does not win.
pub(in crate::gomoku) const fn reach<R: Rule>() -> u32 {
    match R::NAME {
        RuleName::Freestyle => R::ROW as u32 - 1,
        _ => R::ROW as u32,
    }
}

/// Place of the centre in a window of 11.
pub(in crate::gomoku) const CENTRE: u32 = 5;

/// The shapes that a stone of either side makes in every window.
#[derive(Debug)]
pub(in crate::gomoku) struct Shapes {
    /// By [`index`]; the second side's shape in the high half of the byte.
    table: Vec<u8>,
}

impl Shapes {
    /// The table of a rule, made once.
    pub(in crate::gomoku) fn of<R: Rule>() -> &'static Self {
        static TABLES: [[OnceLock<Shapes>; 6]; RuleName::ALL.len()] =
            [const { [const { OnceLock::new() }; 6] }; RuleName::ALL.len()];
        TABLES[R::NAME as usize][R::ROW].get_or_init(Self::new::<R>)
    }

    fn new<R: Rule>() -> Self {
        let sides = 2 * reach::<R>();
        let [first, second] = [Side::First, Side::Second].map(shapes_of::<R>);
        let both = |cells: u32| {
            let (mut stones, mut empty) = ([0; 2], 0);
            for place in 0..sides {
                match cells >> (2 * place) & 3 {
                    0 => empty |= 1 << place,
                    1 => stones[0] |= 1 << place,
                    2 => stones[1] |= 1 << place,
                    _ => {}
                }
            }
            let [first, second] = [
                (&first, stones[0], stones[1]),
                (&second, stones[1], stones[0]),
            ]
            .map(|(table, own, other)| {
                let other = if R::CLOSES { other } else { 0 };
                table[((own | other) << sides | empty | other) as usize]
            });
            first as u8 | (second as u8) << 4
        };
        Self {
            table: (0..1 << (2 * sides)).map(both).collect(),
        }
    }

    /// Returns the shapes that a stone in the centre of a window makes: the first side's in the low
    /// half of the byte, the second side's in the high half. The content of the centre does not
    /// matter.
    #[inline]
    pub(in crate::gomoku) fn get<R: Rule>(&self, window: u32) -> u8 {
        self.table[index::<R>(window)]
    }
}

/// Returns the window without its centre and without the places beyond the reach.
#[inline]
const fn index<R: Rule>(window: u32) -> usize {
    let reach = reach::<R>();
    let side = (1 << (2 * reach)) - 1;
    let below = window >> (2 * (CENTRE - reach)) & side;
    let above = window >> (2 * (CENTRE + 1)) & side;
    (below | above << (2 * reach)) as usize
}

/// Returns one side's shapes, by the places without the centre: `own << sides | empty`. Where
/// opposing stones close rows, each of these is in both sets; else it is in none, as an edge.
///
/// Runs from more stones to fewer, so that the shapes with one more stone are known: `own | q >
/// own`.
fn shapes_of<R: Rule>(side: Side) -> Vec<Shape> {
    let sides = 2 * reach::<R>();
    let mut table = vec![Shape::Dead; 1 << (2 * sides)];
    for own in (0..1u32 << sides).rev() {
        for empty in (0..1u32 << sides).filter(|empty| R::CLOSES || own & empty == 0) {
            table[(own << sides | empty) as usize] = shape::<R>(side, &table, own, empty);
        }
    }
    table
}

/// Numbers of own stones in a row below and above the centre.
const fn beside<R: Rule>(own: u32) -> [u32; 2] {
    let reach = reach::<R>();
    [
        (own << (32 - reach)).leading_ones(),
        (own >> reach).trailing_ones(),
    ]
}

/// Length of the run through the centre, whose stone is there.
fn run<R: Rule>(own: u32) -> usize {
    let [below, above] = beside::<R>(own);
    (below + 1 + above) as usize
}

/// Whether the run through the centre is a five, given the opposing stones.
fn is_five<R: Rule>(side: Side, own: u32, other: u32) -> bool {
    R::is_five(side, run::<R>(own), || {
        let ([below, above], reach) = (beside::<R>(own), reach::<R>());
        other << 1 >> (reach - below) & other >> (reach + above) & 1 != 0
    })
}

fn shape<R: Rule>(side: Side, table: &[Shape], own: u32, empty: u32) -> Shape {
    let (sides, index) = (2 * reach::<R>(), (own, empty));
    let other = own & empty;
    let (own, empty) = (own & !other, empty & !other);
    if run::<R>(own | empty) < R::ROW {
        return Shape::Dead;
    }
    let stones = (0..sides)
        .map(|bit| 1 << bit)
        .filter(|stone| empty & stone != 0);
    if is_five::<R>(side, own, other) {
        return Shape::Five;
    }
    let is_judged = R::FORBIDS && side == Side::First;
    if is_judged && run::<R>(own) > 5 {
        return Shape::Overline;
    }
    let after = |own: u32, empty: u32| table[(own << sides | empty) as usize];
    let is_completion = |stone: &u32| is_five::<R>(side, own | stone, other);
    match stones.clone().filter(is_completion).count() {
        0 => stones
            .map(|stone| after(index.0 | stone, index.1 & !stone).one_stone_before())
            .max()
            .unwrap_or(Shape::Dead),
        1 => Shape::Four,
        _ if is_judged && run::<R>(own) < 4 => Shape::DoubleFour,
        // An opposing stone may take one completion point and close the other.
        _ if R::CLOSES
            && stones
                .into_iter()
                .any(|q| after(index.0 | q, index.1) < Shape::Four) =>
        {
            Shape::Four
        }
        _ => Shape::OpenFour,
    }
}

/// Places of a window of 11 where a second stone of the side completes five with one in the centre.
pub(in crate::gomoku) fn completions<R: Rule>(
    side: Side,
    window: u32,
) -> impl Iterator<Item = u32> {
    let reach = reach::<R>();
    let [own, other] = [side, side.other()].map(|side| {
        let is_own = |bit: &u32| window >> (2 * place::<R>(*bit)) & 3 == side.index() as u32 + 1;
        let places = (0..2 * reach).filter(is_own);
        places.fold(0, |stones, bit| stones | 1 << bit)
    });
    (0..2 * reach)
        .filter(move |&bit| {
            window >> (2 * place::<R>(bit)) & 3 == 0 && is_five::<R>(side, own | 1 << bit, other)
        })
        .map(place::<R>)
}

/// The place in a window of a bit that leaves the centre out.
const fn place<R: Rule>(bit: u32) -> u32 {
    let reach = reach::<R>();
    CENTRE - reach + bit + (bit >= reach) as u32
}

/// Shapes by their definition alone; its patterns have the order of [`Shape`].
#[cfg(test)]
#[path = "../../../../game/tests/patterns/definition.rs"]
#[allow(
    dead_code,
    reason = "the classes of fours and threes are not kept here"
)]
mod definition;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::definition::{Definition, Spot, run as length, windows};
    use super::*;
    use kagetsu_game::gomoku::{Freestyle, Renju, Standard};

    /// Returns the shape that a stone of the side on the centre makes, in a line of own stones,
    /// empty cells and others.
    fn read<R: Rule>(side: Side, line: &[u8], centre: usize) -> Shape {
        let content = |cell: u8| match (cell, side) {
            (b'_', _) => 0,
            (b'O', Side::First) | (b'X', Side::Second) => 1,
            (b'O', Side::Second) | (b'X', Side::First) => 2,
            _ => 3,
        };
        let mut window = 0x3f_ffff;
        for (&cell, at) in line.iter().zip(0..) {
            let place = at + CENTRE - centre as u32;
            window = window & !(3 << (2 * place)) | content(cell) << (2 * place);
        }
        let both = Shapes::of::<R>().get::<R>(window);
        Shape::of(both >> (4 * side.index()) & 0xf)
    }

    fn check_all<R: Rule>(side: Side) {
        let is_five: fn(usize) -> bool = match side {
            Side::First => |run| R::is_five(Side::First, run, || false),
            Side::Second => |run| R::is_five(Side::Second, run, || false),
        };
        let mut definition = Definition::new(is_five);
        let centre = reach::<R>() as usize;
        for line in windows(reach::<R>()) {
            let letters: Vec<u8> = line.iter().map(|&spot| b"O_X"[spot as usize]).collect();
            let found = read::<R>(side, &letters, centre) as u8;
            let defined = definition.pattern(&line, centre) as u8;
            assert_eq!(found, defined, "{}", String::from_utf8_lossy(&letters));
        }
    }

    #[test]
    fn freestyle_table_matches_definition() {
        check_all::<Freestyle>(Side::First);
        check_all::<Freestyle>(Side::Second);
    }

    #[test]
    fn standard_table_matches_definition() {
        check_all::<Standard>(Side::First);
        check_all::<Standard>(Side::Second);
    }

    #[test]
    fn renju_tables_match_definition() {
        check_all::<Renju>(Side::Second);
        let mut known = HashMap::new();
        for line in windows(reach::<Renju>()) {
            let letters: Vec<u8> = line.iter().map(|&spot| b"O_X"[spot as usize]).collect();
            let centre = reach::<Renju>() as usize;
            let found = read::<Renju>(Side::First, &letters, centre);
            assert_eq!(
                found,
                judged(&mut known, &line, centre),
                "{}",
                String::from_utf8_lossy(&letters)
            );
        }
    }

    /// Returns the shape of Black's stone at `at`, where overlines and two fours on a line are
    /// forbidden.
    fn judged(known: &mut HashMap<Vec<Spot>, Shape>, line: &[Spot], at: usize) -> Shape {
        if let Some(&shape) = known.get(line) {
            return shape;
        }
        let with = |place: usize| {
            let mut next = line.to_vec();
            next[place] = Spot::Own;
            next
        };
        let empty: Vec<usize> = (0..line.len())
            .filter(|&place| line[place] == Spot::Empty)
            .collect();
        let fives = empty
            .iter()
            .filter(|&&place| length(&with(place), at) == 5)
            .count();
        let shape = match (length(line, at), fives) {
            (5, _) => Shape::Five,
            (6.., _) => Shape::Overline,
            (_, 1) => Shape::Four,
            (4, 2) => Shape::OpenFour,
            (_, 2..) => Shape::DoubleFour,
            _ => {
                let next = empty.iter().map(|&place| judged(known, &with(place), at));
                let best = next.filter(|&shape| shape <= Shape::OpenFour).max();
                match best {
                    Some(Shape::OpenFour) => Shape::OpenThree,
                    Some(Shape::Four) => Shape::SleepingThree,
                    Some(Shape::OpenThree) => Shape::OpenTwo,
                    Some(Shape::SleepingThree) => Shape::SleepingTwo,
                    Some(Shape::OpenTwo) => Shape::OpenOne,
                    Some(Shape::SleepingTwo) => Shape::SleepingOne,
                    _ => Shape::Dead,
                }
            }
        };
        known.insert(line.to_vec(), shape);
        shape
    }

    #[test]
    fn known_shapes_have_their_names() {
        let check = |line: &str, centre: usize, freestyle: Shape, standard: Shape| {
            assert_eq!(
                read::<Freestyle>(Side::First, line.as_bytes(), centre),
                freestyle,
                "freestyle {line}"
            );
            assert_eq!(
                read::<Standard>(Side::Second, line.as_bytes(), centre),
                standard,
                "standard {line}"
            );
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
