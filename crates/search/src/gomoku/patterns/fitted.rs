//! Values of crosses and threats that are fitted to the results of games.
//!
//! The tables are text files in `data/`. `cargo run --release -p kagetsu-search --example
//! learn` makes them from games of `--example selfplay`; both examples describe their use.

use std::sync::LazyLock;

use kagetsu_game::{RuleName, Side};

use super::kind::{Cross, shapes};
use super::shape::SHAPES;
use crate::networks::weights::places;

/// Number of classes. Crosses that differ only in the order of their lines share a class.
pub const CLASSES: usize = SHAPES * (SHAPES + 1) * (SHAPES + 2) * (SHAPES + 3) / 24;

/// Number of sets of threats.
pub const FLAGS: usize = 512;

/// The class of every cross.
static CLASS_OF: LazyLock<Box<[u16; 1 << 16]>> = LazyLock::new(|| {
    let classes: Box<[u16]> = (0..=Cross::MAX).map(class_of).collect();
    classes.try_into().expect("one for each cross")
});

/// The shapes of a class in hexadecimal, the strongest first: its name.
fn names() -> impl Iterator<Item = u16> {
    (0..=Cross::MAX).filter(|&cross| shapes(cross).is_some() && sorted(cross) == cross)
}

fn sorted(cross: Cross) -> Cross {
    let mut lines = [0, 1, 2, 3].map(|line| cross >> (4 * line) & 0xf);
    lines.sort_unstable();
    (0..4).fold(0, |cross, line| cross | lines[line] << (4 * line))
}

fn class_of(cross: Cross) -> u16 {
    static NAMES: LazyLock<Vec<u16>> = LazyLock::new(|| names().collect());
    // Crosses that no cell has count as dead.
    NAMES
        .binary_search(&sorted(cross))
        .map_or(0, |class| class as u16)
}

/// The class of a cross, below [`CLASSES`].
pub(crate) fn class(cross: Cross) -> usize {
    CLASS_OF[usize::from(cross)].into()
}

/// The fitted values of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// By class, in centi-units for the side that may put a stone there.
    pub(crate) values: Vec<i16>,
    /// By flags, in centi-units for the side to move.
    pub(crate) threats: Vec<i16>,
}

impl Fitted {
    /// The table of a side. Where the rules are the same for both sides, so are the tables.
    pub(crate) fn of(rule: RuleName, side: Side) -> Self {
        let texts = [
            include_str!("../../../data/freestyle.txt"),
            include_str!("../../../data/standard.txt"),
            include_str!("../../../data/renju-first.txt"),
            include_str!("../../../data/renju-second.txt"),
        ];
        let text = texts[places(rule)[side.index()]];
        Self::read(text).expect("the tables are read by a test")
    }

    pub(in crate::gomoku) fn value(&self, cross: Cross) -> i16 {
        self.values[class(cross)]
    }

    /// Reads a table; missing values are 0.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut table = Self {
            values: vec![0; CLASSES],
            threats: vec![0; FLAGS],
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let (kind, name, value) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
            let name = u16::from_str_radix(name, 16).ok()?;
            match kind {
                "cross" if sorted(name) == name => table.values[class(name)] = value,
                "threats" => *table.threats.get_mut(usize::from(name))? = value,
                _ => return None,
            }
        }
        Some(table)
    }

    /// The table as text.
    pub(crate) fn write(&self) -> String {
        let mut text = String::from(
            "# cross: the shapes of a cell's four lines in hexadecimal, the strongest first, and what they are worth.\n\
             # threats: which threats there are, in hexadecimal, and what they are worth to the side to move.\n",
        );
        let values = names().zip(&self.values).filter(|(_, value)| **value != 0);
        values.for_each(|(name, value)| text.push_str(&format!("cross {name:04x} {value}\n")));
        let threats = self
            .threats
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0);
        threats.for_each(|(flags, value)| text.push_str(&format!("threats {flags:03x} {value}\n")));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_and_written_again() {
        for rule in [RuleName::Freestyle, RuleName::Standard, RuleName::Renju] {
            for side in [Side::First, Side::Second] {
                let table = Fitted::of(rule, side);
                assert_eq!(Fitted::read(&table.write()), Some(table));
            }
        }
        assert_eq!(
            Fitted::read("cross 0123 5"),
            None,
            "the strongest is not first"
        );
        assert_eq!(
            Fitted::read("threats 200 5"),
            None,
            "there are no such threats"
        );
    }

    #[test]
    fn classes_are_numbered_without_gaps() {
        assert_eq!(names().count(), CLASSES);
        assert_eq!(class(0x0070), class(0x7000));
        assert_eq!(class(0x0070), class(0x0007));
        assert_ne!(class(0x0070), class(0x0071));
        assert_eq!(class(0), 0);
    }
}
