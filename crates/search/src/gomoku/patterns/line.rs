//! Classes of the lines through an empty cell, finer than shapes.

use kagetsu_game::gomoku::Rule;

use super::shape::{CENTRE, reach};

/// Cells of a window on each side of its centre.
const REACH: u32 = CENTRE;

/// Views of one half of a line by a side: up to [`REACH`] cells before the first that cannot be
/// its own, and which of them have its stones.
const HALVES: usize = (2 << REACH) - 1;

/// Number of classes. A line and its mirror image share a class.
pub const LINE_CLASSES: usize = HALVES * (HALVES + 1) / 2;

/// The half below the centre and the half above it, by their cells, for the first and for the
/// second side.
static TABLES: [[[u8; 2]; 1 << (2 * REACH)]; 2] = [table(true), table(false)];

const fn table(is_below: bool) -> [[u8; 2]; 1 << (2 * REACH)] {
    let mut table = [[0; 2]; 1 << (2 * REACH)];
    let mut cells = 0;
    while cells < table.len() {
        table[cells] = [half(cells, is_below, 1), half(cells, is_below, 2)];
        cells += 1;
    }
    table
}

const fn half(cells: usize, is_below: bool, stone: usize) -> u8 {
    let (mut length, mut stones) = (0, 0);
    while length < REACH {
        let place = if is_below { REACH - 1 - length } else { length };
        let content = cells >> (2 * place) & 3;
        if content == stone {
            stones |= 1 << length;
        } else if content != 0 {
            break;
        }
        length += 1;
    }
    (1 << length) - 1 + stones
}

/// Returns the class of the line in a window of 11 for the first and for the second side, below
/// [`LINE_CLASSES`]. The centre does not matter, nor do cells beyond the reach of the rule.
#[inline]
pub(in crate::gomoku) fn line_class<R: Rule>(window: u32) -> [u16; 2] {
    let beyond = CENTRE - reach::<R>();
    let outer = (1 << (2 * beyond)) - 1;
    let window = window | outer | outer << (2 * (2 * CENTRE + 1 - beyond));
    let at = |place: u32| window as usize >> (2 * place) & ((1 << (2 * REACH)) - 1);
    let (below, above) = (TABLES[0][at(0)], TABLES[1][at(CENTRE + 1)]);
    [0, 1].map(|side| {
        let (low, high) = (below[side].min(above[side]), below[side].max(above[side]));
        let (low, high) = (u16::from(low), u16::from(high));
        high * (high + 1) / 2 + low
    })
}

/// Returns the class of a line after each half with five cells has lost its outermost one.
pub fn shorter_line(class: usize) -> usize {
    // Halves with fewer than five cells come first; the number of cells with stones follows.
    const SHORT: usize = (1 << REACH) - 1;
    let shorter = |half: usize| {
        if half < SHORT {
            half
        } else {
            SHORT / 2 + (half - SHORT) % (1 << (REACH - 1))
        }
    };
    let high = (0..HALVES).rfind(|high| high * (high + 1) / 2 <= class);
    let high = high.expect("the first class is 0");
    let (low, high) = (shorter(class - high * (high + 1) / 2), shorter(high));
    let (low, high) = (low.min(high), low.max(high));
    high * (high + 1) / 2 + low
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kagetsu_game::gomoku::{Freestyle, Renju};

    use super::*;

    /// Returns the classes of a window of 11 for both sides.
    fn classes<R: Rule>(line: &str) -> [u16; 2] {
        let cells = line.bytes().rev().fold(0, |window, cell| {
            let content = match cell {
                b'_' => 0,
                b'O' => 1,
                b'X' => 2,
                _ => 3,
            };
            window << 2 | content
        });
        line_class::<R>(cells)
    }

    #[test]
    fn class_ends_at_a_blocked_cell() {
        let [first, second] = classes::<Renju>("_OX___O__X#");
        assert_eq!(classes::<Renju>("XXX___O__##")[0], first);
        assert_eq!(classes::<Renju>("#X__O___XO_")[0], first);
        assert_ne!(classes::<Renju>("_O____O__X#")[0], first);
        assert_eq!(classes::<Renju>("_OX___OOOOO")[1], second);
    }

    #[test]
    fn freestyle_class_ignores_the_outermost_cells() {
        let class = classes::<Freestyle>("__O______O_");
        assert_eq!(classes::<Freestyle>("X_O______OO"), class);
        assert_ne!(classes::<Renju>("X_O______OO"), class);
    }

    #[test]
    fn shorter_line_is_that_of_freestyle() {
        for cells in (0..1 << 20).step_by(7) {
            let window = cells & 0x3ff | cells >> 10 << 12;
            let classes = line_class::<Renju>(window).map(|class| shorter_line(class.into()));
            assert_eq!(classes, line_class::<Freestyle>(window).map(usize::from));
        }
    }

    #[test]
    fn all_classes_occur() {
        let windows = (0..1 << 20).map(|cells| cells & 0x3ff | cells >> 10 << 12);
        let seen: BTreeSet<u16> = windows.map(|cells| line_class::<Renju>(cells)[0]).collect();
        assert_eq!(seen.len(), LINE_CLASSES);
        assert!(seen.iter().all(|&class| usize::from(class) < LINE_CLASSES));
    }
}
