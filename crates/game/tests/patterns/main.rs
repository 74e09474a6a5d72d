//! The patterns of a line, defined in `definition.rs` by what one more stone makes of them; tests
//! of other crates use that file to judge their tables. Here it is compared with drawn examples,
//! laws and the boards of the three rules.

mod definition;

use definition::{Definition, IsFive, Pattern, Spot, is_initiative, is_jump, is_killer, windows};
use kagetsu_game::gomoku::{Freestyle, Gomoku, Renju, Rule, Standard};
use kagetsu_game::{Game, Position, Side, Variant};
use proptest::prelude::*;

/// Five or more win: freestyle, and White in renju.
const AT_LEAST: IsFive = |run| run >= 5;
/// Five and no more: standard, and Black in renju.
const EXACTLY: IsFive = |run| run == 5;

use Pattern::{
    ClosedFour, Dead, Five, OpenFour, OpenOne, OpenThree, OpenTwo, SleepOne, SleepThree, SleepTwo,
};

/// `x` is the stone in question, `O` another of its side, `#` an enemy or the edge; the drawing
/// ends at the edge. Then the pattern if five or more win, and if exactly five wins.
const EXAMPLES: &[(&str, Pattern, Pattern)] = &[
    ("OOxOO", Five, Five),
    ("OOxOOO", Five, Dead),
    ("_OOxO_", OpenFour, OpenFour),
    ("#OOxO_", ClosedFour, ClosedFour),
    ("#OOxO#", Dead, Dead),
    ("OO_xO", ClosedFour, ClosedFour),
    ("O_OxO", ClosedFour, ClosedFour),
    // Two points complete a five on one line, though no end of the row is open.
    ("O_OxO_O", OpenFour, OpenFour),
    ("OO_xO_OO", OpenFour, OpenFour),
    // The far stone turns one of the two fives into a six.
    ("_OOxO_O", OpenFour, ClosedFour),
    ("O_OOxO_O", OpenFour, Dead),
    ("__OxO__", OpenThree, OpenThree),
    ("#_OxO__", OpenThree, OpenThree),
    ("#_OxO_#", SleepThree, SleepThree),
    ("#OxO__", SleepThree, SleepThree),
    ("#OxO_", Dead, Dead),
    ("_O_xO_", OpenThree, OpenThree),
    ("#O_xO_", SleepThree, SleepThree),
    ("O__xO", SleepThree, SleepThree),
    ("O_x_O", SleepThree, SleepThree),
    // Open to the left only if six does no harm.
    ("__OxO_#", OpenThree, OpenThree),
    ("O__OxO_#", OpenThree, SleepThree),
    ("___xO___", OpenTwo, OpenTwo),
    ("_x_O__", OpenTwo, OpenTwo),
    ("_x__O_", OpenTwo, OpenTwo),
    ("#xO___", SleepTwo, SleepTwo),
    ("#_xO__#", SleepTwo, SleepTwo),
    ("#xO__#", Dead, Dead),
    ("__x___", OpenOne, OpenOne),
    ("____x____", OpenOne, OpenOne),
    ("#x____", SleepOne, SleepOne),
    ("#__x__#", SleepOne, SleepOne),
    ("#_x__#", Dead, Dead),
];

fn spots(drawn: &str) -> (Vec<Spot>, usize) {
    let spot = |c| match c {
        'x' | 'O' => Spot::Own,
        '_' => Spot::Empty,
        _ => Spot::Blocked,
    };
    (
        drawn.chars().map(spot).collect(),
        drawn.find('x').expect("a stone to ask about"),
    )
}

#[test]
fn drawn_patterns_are_what_they_are_called() {
    for (drawn, at_least, exactly) in EXAMPLES {
        let (line, at) = spots(drawn);
        assert_eq!(
            Definition::new(AT_LEAST).pattern(&line, at),
            *at_least,
            "{drawn}, five or more"
        );
        assert_eq!(
            Definition::new(EXACTLY).pattern(&line, at),
            *exactly,
            "{drawn}, exactly five"
        );
    }
}

#[test]
fn row_with_a_gap_is_a_jump() {
    for (drawn, jump) in [
        ("_OOxO_", false),
        ("#OOxO_", false),
        ("OO_xO", true),
        ("O_OxO", true),
        ("__OxO__", false),
        ("_O_xO_", true),
        ("_x_OO_", true),
        ("#OxO__", false),
    ] {
        let (line, at) = spots(drawn);
        let pattern = Definition::new(AT_LEAST).pattern(&line, at);
        assert_eq!(is_jump(&line, at, pattern), jump, "{drawn}");
    }
    assert!(
        [OpenThree, ClosedFour, OpenFour]
            .into_iter()
            .all(is_initiative)
    );
    assert!(![SleepThree, OpenTwo, Dead].into_iter().any(is_initiative));
}

/// Number of windows of each pattern, weakest first. The fives can be counted by hand: rows with
/// `l` stones on one side and `r` on the other, summed over `l + r` of at least 4, or of exactly 4.
const COUNTS: [(u32, IsFive, [usize; 10]); 2] = [
    (
        4,
        AT_LEAST,
        [3_537, 81, 34, 419, 156, 850, 249, 796, 142, 297],
    ),
    (
        5,
        EXACTLY,
        [
            38_421, 652, 268, 3_332, 1_068, 6_408, 1_368, 5_344, 568, 1_620,
        ],
    ),
];

#[test]
fn every_window_is_counted() {
    for (reach, is_five, expected) in COUNTS {
        let mut definition = Definition::new(is_five);
        let mut counts = [0; 10];
        for window in windows(reach) {
            counts[definition.pattern(&window, reach as usize) as usize] += 1;
        }
        assert_eq!(counts, expected);
        assert_eq!(counts.iter().sum::<usize>(), 3_usize.pow(2 * reach));
    }
}

#[test]
fn a_line_read_backwards_is_the_same() {
    for (reach, is_five, _) in COUNTS {
        let mut definition = Definition::new(is_five);
        for window in windows(reach) {
            let mirrored: Vec<Spot> = window.iter().rev().copied().collect();
            let both = [&window, &mirrored].map(|line| definition.pattern(line, reach as usize));
            assert_eq!(both[0], both[1], "{window:?}");
        }
    }
}

/// Two lines that force an answer are a double threat; one is not, even a four.
#[test]
fn killers_force_two_answers_at_once() {
    for (lines, killer) in [
        ([OpenThree, OpenThree, Dead, Dead], true),
        ([Dead, ClosedFour, OpenTwo, OpenThree], true),
        ([ClosedFour, Dead, Dead, ClosedFour], true),
        ([OpenFour, OpenTwo, OpenTwo, SleepThree], false),
        ([OpenThree, SleepThree, SleepThree, SleepThree], false),
        ([Dead; 4], false),
    ] {
        assert_eq!(is_killer(lines), killer, "{lines:?}");
    }
}

/// Where five or more win, another own stone never weakens a stone, and a blocked point never
/// strengthens it.
#[test]
fn stones_help_and_blocks_hurt() {
    let mut definition = Definition::new(AT_LEAST);
    for window in windows(4) {
        let pattern = definition.pattern(&window, 4);
        for index in (0..9).filter(|&index| window[index] == Spot::Empty) {
            let mut then = window.clone();
            then[index] = Spot::Own;
            assert!(definition.pattern(&then, 4) >= pattern, "{window:?}");
            then[index] = Spot::Blocked;
            assert!(definition.pattern(&then, 4) <= pattern, "{window:?}");
        }
    }
}

fn lines() -> impl Strategy<Value = Vec<Spot>> {
    let spot = prop_oneof![3 => Just(Spot::Empty), 3 => Just(Spot::Own), 1 => Just(Spot::Blocked)];
    prop::collection::vec(spot, 5..=15)
}

/// Counts the points at which `side` completes a five through `at` on the rule's board, with the
/// line as its middle row and no other stones.
fn completions<R: Rule>(line: &[Spot], at: usize, side: Side) -> Option<usize> {
    let variant = Variant::Gomoku {
        rule: R::NAME,
        size: line.len() as u8,
    };
    let (own, other) = if side == Side::First {
        ('X', 'O')
    } else {
        ('O', 'X')
    };
    let row: String = line
        .iter()
        .map(|spot| [own, '.', other][*spot as usize])
        .collect();
    let empty = ".".repeat(line.len());
    let middle = line.len() / 2;
    let rows: Vec<&str> = (0..line.len())
        .map(|y| if y == middle { row.as_str() } else { &empty })
        .collect();
    let board: Gomoku<R> = Position::from_board(variant, &rows.join("\n"), Some(side))
        .ok()?
        .game();
    if board.outcome().is_some() {
        return None;
    }
    let start = (line.len() - 1 - middle) * line.len();
    let wins = |index: &usize| {
        let mut then = board.clone();
        then.play(kagetsu_game::Move::new((start + index) as u16));
        let mut between = line[(*index).min(at)..=(*index).max(at)]
            .iter()
            .filter(|spot| **spot != Spot::Own);
        then.outcome() == Some(kagetsu_game::Outcome::Win(side))
            && between.next().is_some()
            && between.next().is_none()
    };
    Some(
        (0..line.len())
            .filter(|&index| line[index] == Spot::Empty)
            .filter(wins)
            .count(),
    )
}

proptest! {
    /// Only four points on either side matter, or five where six does not win.
    #[test]
    fn window_value_equals_the_line_value(mut line in lines(), at in 0..15_usize) {
        let at = at % line.len();
        line[at] = Spot::Own;
        for (reach, is_five) in [(4, AT_LEAST), (5, EXACTLY)] {
            let window = (0..=2 * reach).map(|n| (at + n).checked_sub(reach).and_then(|index| line.get(index).copied()));
            let window: Vec<Spot> = window.map(|spot| spot.unwrap_or(Spot::Blocked)).collect();
            let mut definition = Definition::new(is_five);
            prop_assert_eq!(definition.pattern(&window, reach), definition.pattern(&line, at));
        }
    }

    /// A four has as many completing points as the board counts.
    #[test]
    fn fours_are_what_the_boards_complete(mut line in lines(), at in 0..15_usize) {
        let at = at % line.len();
        line[at] = Spot::Own;
        let boards = [
            (completions::<Freestyle>(&line, at, Side::First), AT_LEAST),
            (completions::<Freestyle>(&line, at, Side::Second), AT_LEAST),
            (completions::<Standard>(&line, at, Side::First), EXACTLY),
            (completions::<Standard>(&line, at, Side::Second), EXACTLY),
            (completions::<Renju>(&line, at, Side::First), EXACTLY),
            (completions::<Renju>(&line, at, Side::Second), AT_LEAST),
        ];
        for (completions, is_five) in boards {
            let Some(completions) = completions else { continue };
            let pattern = Definition::new(is_five).pattern(&line, at);
            let expected = match pattern {
                Pattern::Five => continue,
                Pattern::OpenFour => 2..=2,
                Pattern::ClosedFour => 1..=1,
                _ => 0..=0,
            };
            prop_assert!(expected.contains(&completions), "{pattern:?} with {completions} completing points");
        }
    }
}
