//! The Zobrist numbers of `.obk` books. They are known only from programs under the GPL, so the
//! user supplies them.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_files::read_text;
use kagetsu_game::{Position, Side, Variant};

use crate::xiangqi::squares::{KINDS, SQUARES, placed};

/// The number for Red to move.
const SIDE: u64 = 0xA0CE_2AF9_0C45_2F58;
/// The key of the start, with Red to move.
pub(crate) const START: u64 = 7_101_337_512_282_506_414;
/// The error for missing numbers.
pub(crate) const MISSING_KEYS: &str = "the keys of these books are made of 3,584 numbers that are not ours to hand on: give a text that has them \
                                  by --zobrist FILE (docs/using/files.md says which)";

/// The Zobrist numbers: one for each piece on each square of a 16x16 board.
#[derive(Clone)]
pub struct ZobristKeys {
    numbers: Vec<u64>,
}

impl ZobristKeys {
    /// Reads numbers, piece by piece (K A B N R C P of Red, then of Black), 256 squares each:
    /// decimal or hexadecimal, signed or unsigned, separated by blanks, commas, brackets or line
    /// ends. Text after `#` or `//` is a comment. The number for Red to move may stand first or
    /// last.
    ///
    /// # Errors
    /// If a word is no number, the count is wrong, or the start does not get its key in such books.
    pub fn read(text: &str) -> Result<Self> {
        let mut numbers = Vec::with_capacity(KINDS * SQUARES + 1);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line
                .split("//")
                .next()
                .and_then(|line| line.split('#').next())
                .unwrap_or_default();
            let is_between = |c: char| c.is_whitespace() || ",;[](){}".contains(c);
            for word in line.split(is_between).filter(|word| !word.is_empty()) {
                numbers.push(
                    parse(word).with_context(|| {
                        format!("line {number}: {word:?} is no number of 64 bits")
                    })?,
                );
            }
        }
        if numbers.len() == KINDS * SQUARES + 1 {
            match (numbers.first(), numbers.last()) {
                (_, Some(&SIDE)) => drop(numbers.pop()),
                (Some(&SIDE), _) => drop(numbers.remove(0)),
                _ => {}
            }
        }
        let (found, wanted) = (numbers.len(), KINDS * SQUARES);
        ensure!(
            found == wanted,
            "it has {found} numbers, not {wanted} (14 pieces on 256 squares)"
        );
        let keys = Self { numbers };
        match keys.of(&Position::start(Variant::XIANGQI), false) {
            Some(START) => Ok(keys),
            key => bail!(
                "these are not the numbers of `.obk` books: by them the start, Red to move, has the key {}, there it has {START}; \
                 are they in the order K A B N R C P, k a b n r c p, of each 256 squares?",
                key.unwrap_or_default()
            ),
        }
    }

    /// Reads the numbers of a file.
    ///
    /// # Errors
    /// As [`Self::read`], and if the file is missing or unreadable.
    pub fn of_file(path: Option<&Path>) -> Result<Self> {
        let path = path.context(MISSING_KEYS)?;
        let text =
            read_text(path).with_context(|| format!("cannot read --zobrist {}", path.display()))?;
        Self::read(&text).with_context(|| format!("--zobrist {}", path.display()))
    }

    /// Returns pseudo-random numbers that give the start its right key, for tests.
    pub fn from_seed(seed: u64) -> Self {
        let mut state = seed;
        // Steele, Lea and Flood: "Fast splittable pseudorandom number generators", 2014.
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        };
        let mut keys = Self {
            numbers: (0..KINDS * SQUARES).map(|_| next()).collect(),
        };
        let start = Position::start(Variant::XIANGQI);
        let wrong = keys.of(&start, false).unwrap_or_default() ^ START;
        // Red's king stands on the middle file, so its mirror image has the same key.
        if let Some((piece, at)) = placed(&start, false)
            .and_then(|placed| placed.into_iter().find(|(piece, _)| *piece == 0))
        {
            keys.numbers[piece * SQUARES + at] ^= wrong;
        }
        keys
    }

    /// Writes the numbers as [`Self::read`] reads them.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.numbers
            .iter()
            .map(|number| format!("{number:#018x}\n"))
            .collect()
    }

    /// Returns the key of a position, or of its mirror image; `None` for a position without a FEN.
    pub(crate) fn of(&self, position: &Position, is_mirrored: bool) -> Option<u64> {
        let side = if position.side() == Side::First {
            SIDE
        } else {
            0
        };
        let number = |(piece, at): (usize, usize)| self.numbers.get(piece * SQUARES + at).copied();
        placed(position, is_mirrored)?
            .into_iter()
            .try_fold(side, |key, place| Some(key ^ number(place)?))
    }
}

/// Reads a 64-bit number: signed or unsigned, hexadecimal after `0x`, with the suffixes of Java and
/// C.
fn parse(word: &str) -> Option<u64> {
    let plain = word.trim_end_matches(['L', 'l', 'U', 'u']).replace('_', "");
    if let Some(digits) = plain
        .strip_prefix("0x")
        .or_else(|| plain.strip_prefix("0X"))
    {
        return u64::from_str_radix(digits, 16).ok();
    }
    plain
        .parse()
        .ok()
        .or_else(|| plain.parse().ok().map(i64::cast_unsigned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_however_it_is_written() {
        let keys = ZobristKeys::from_seed(7);
        let start = Position::start(Variant::XIANGQI);
        assert_eq!(
            (keys.of(&start, false), keys.of(&start, true)),
            (Some(START), keys.of(&start, true))
        );
        let words = |word: fn(&u64) -> String| keys.numbers.iter().map(word).collect::<Vec<_>>();
        let signed = |number: &u64| number.cast_signed().to_string();
        for text in [
            keys.text(),
            format!("# numbers\n{{{}}};", words(u64::to_string).join(", ")),
            format!(
                "{}\n-6859497933297602728 // Red to move",
                words(signed).join("\t")
            ),
            format!(
                "0xA0CE2AF90C452F58L,\n{}",
                words(|number| format!("0x{number:X}L")).join(",\n")
            ),
        ] {
            let read = ZobristKeys::read(&text).expect("all are numbers");
            assert!(read.numbers == keys.numbers, "{}", &text[..60]);
        }
    }

    #[test]
    fn wrong_zobrist_table_is_refused() {
        let text = ZobristKeys::from_seed(7).text();
        let (first, rest) = text.split_once('\n').expect("many lines");
        for (text, says) in [
            (String::new(), "it has 0 numbers, not 3584"),
            (rest.to_string(), "it has 3583 numbers"),
            (format!("{text}1 2"), "it has 3586 numbers"),
            (
                format!("long[] table\n{rest}"),
                "line 1: \"long\" is no number",
            ),
            (
                format!("{first}\n18446744073709551616\n{rest}"),
                "line 2: \"18446744073709551616\"",
            ),
            ("1 ".repeat(KINDS * SQUARES), "has the key 11587"),
        ] {
            let refused = ZobristKeys::read(&text)
                .err()
                .expect("it is no table of these books");
            assert!(format!("{refused:#}").contains(says), "{refused:#}");
        }
    }
}
