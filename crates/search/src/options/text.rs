//! Text form of engine options, as in `seed=off,candidates=12,table=64MiB`.

use std::fmt;
use std::num::IntErrorKind;
use std::ops::RangeFrom;
use std::str::FromStr;

use crate::{Constants, EngineOptions, Neighbourhood, ThreadSplit};

/// Text of the default options; other settings may follow it.
const DEFAULT: &str = "default";
/// All keys, for error messages.
const KEYS: &str = "threads, table, constants, neighbourhood, candidates, seed, leaf-fours, selective, vct, split, end-tables";

const CONSTANTS: [(Constants, &str); 4] = [
    (Constants::Own, "own"),
    (Constants::Matrix, "matrix"),
    (Constants::Count, "count"),
    (Constants::Evalue, "evalue"),
];
const NEIGHBOURHOODS: [(Neighbourhood, &str); 2] = [
    (Neighbourhood::Paper12, "paper-12"),
    (Neighbourhood::Square24, "square-24"),
];
const SPLITS: [(ThreadSplit, &str); 2] = [
    (ThreadSplit::Shared, "shared"),
    (ThreadSplit::Seeded, "seeded"),
];
const SWITCH: [(bool, &str); 2] = [(true, "on"), (false, "off")];
/// Name of an unlimited number of candidates.
const ALL: [(usize, &str); 1] = [(usize::MAX, "all")];
/// Units of memory as powers of two, the largest first.
const UNITS: [(u32, &str); 4] = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];

/// An error in the text of engine options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The text is not of the form key=value.
    #[error(
        "'{0}' is not a setting; write key=value, with commas between them, as in seed=off,candidates=12"
    )]
    Setting(String),
    /// The key is unknown.
    #[error("no engine option is called '{0}'; there are {KEYS}")]
    Key(String),
    /// The key does not allow the value.
    #[error("{0}={1}: {0} must be {2}")]
    Value(String, String, String),
}

/// Writes the settings that differ from the default, separated by commas, or `default` if there are
/// none.
impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, defaults) = (texts(self), texts(&Self::default()));
        let changed = texts
            .iter()
            .zip(defaults)
            .filter(|(own, default)| *own != default);
        let words: Vec<String> = changed
            .map(|((key, value), _)| format!("{key}={value}"))
            .collect();
        f.write_str(
            if words.is_empty() {
                DEFAULT.into()
            } else {
                words.join(",")
            }
            .as_str(),
        )
    }
}

/// Returns every option as key and value.
fn texts(options: &EngineOptions) -> [(&'static str, String); 11] {
    let &EngineOptions {
        threads,
        table_bytes,
        constants,
        neighbourhood,
        candidates,
        seed,
        leaf_fours,
        selective,
        vct,
        split,
        end_tables,
        evaluation: _,
    } = options;
    [
        ("threads", threads.to_string()),
        ("table", memory(table_bytes)),
        ("constants", name(&CONSTANTS, constants)),
        ("neighbourhood", name(&NEIGHBOURHOODS, neighbourhood)),
        (
            "candidates",
            if candidates == usize::MAX {
                name(&ALL, candidates)
            } else {
                candidates.to_string()
            },
        ),
        ("seed", name(&SWITCH, seed)),
        ("leaf-fours", leaf_fours.to_string()),
        ("selective", name(&SWITCH, selective)),
        ("vct", name(&SWITCH, vct)),
        ("split", name(&SPLITS, split)),
        ("end-tables", end_tables.to_string()),
    ]
}

/// Reads the format of `Display`. Missing settings keep their defaults, and the last of equal keys
/// counts. Memory is in `B` (optional), `KiB`, `MiB` or `GiB`.
impl FromStr for EngineOptions {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        for setting in text
            .split(',')
            .map(str::trim)
            .filter(|setting| !setting.is_empty() && *setting != DEFAULT)
        {
            let (key, value) = setting
                .split_once('=')
                .ok_or_else(|| OptionsError::Setting(setting.into()))?;
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }
}

impl fmt::Display for ThreadSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&SPLITS, *self))
    }
}

impl FromStr for ThreadSplit {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, OptionsError> {
        named(&SPLITS, text)
            .map_err(|expected| OptionsError::Value("split".into(), text.into(), expected))
    }
}

impl EngineOptions {
    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionsError> {
        let wrong = |expected: String| OptionsError::Value(key.into(), value.into(), expected);
        match key {
            "threads" => self.threads = number(value, 1..).map_err(wrong)?,
            "table" => self.table_bytes = bytes(value).map_err(wrong)?,
            "constants" => self.constants = named(&CONSTANTS, value).map_err(wrong)?,
            "neighbourhood" => self.neighbourhood = named(&NEIGHBOURHOODS, value).map_err(wrong)?,
            "candidates" => {
                let all = named(&ALL, value);
                self.candidates = all
                    .or_else(|_| number(value, 1..))
                    .map_err(|e| wrong(format!("{e}, or all")))?;
            }
            "seed" => self.seed = named(&SWITCH, value).map_err(wrong)?,
            "leaf-fours" => self.leaf_fours = number(value, 0..).map_err(wrong)?,
            "selective" => self.selective = named(&SWITCH, value).map_err(wrong)?,
            "vct" => self.vct = named(&SWITCH, value).map_err(wrong)?,
            "split" => self.split = named(&SPLITS, value).map_err(wrong)?,
            "end-tables" => self.end_tables = number(value, 0..).map_err(wrong)?,
            _ => return Err(OptionsError::Key(key.into())),
        }
        Ok(())
    }
}

/// Returns the value with this name, or the list of names as error.
fn named<T: Copy>(names: &[(T, &str)], text: &str) -> Result<T, String> {
    let found = names
        .iter()
        .find(|(_, name)| *name == text)
        .map(|(value, _)| *value);
    found.ok_or_else(|| {
        names
            .iter()
            .map(|(_, name)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    })
}

fn name<T: PartialEq>(names: &[(T, &'static str)], value: T) -> String {
    let found = names
        .iter()
        .find(|(named, _)| *named == value)
        .map(|(_, name)| *name);
    found
        .expect("every value has its name in the table")
        .to_string()
}

/// Parses an integer within the range, or returns a description of the range as error.
fn number<T>(text: &str, range: RangeFrom<T>) -> Result<T, String>
where
    T: FromStr<Err = std::num::ParseIntError> + PartialOrd + fmt::Display,
{
    match text.parse::<T>() {
        Ok(value) if range.contains(&value) => Ok(value),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err("a smaller number".into()),
        _ => Err(format!("a whole number from {}", range.start)),
    }
}

fn memory(bytes: usize) -> String {
    let fits = |&&(power, _): &&(u32, &str)| bytes > 0 && bytes.trailing_zeros() >= power;
    let (power, unit) = UNITS.iter().find(fits).unwrap_or(&(0, ""));
    format!("{}{unit}", bytes >> power)
}

fn bytes(text: &str) -> Result<usize, String> {
    let suffixed =
        |(power, unit): &(u32, &str)| text.strip_suffix(unit).map(|digits| (digits, *power));
    let (digits, power) = UNITS.iter().find_map(suffixed).unwrap_or((text, 0));
    let count: usize = digits
        .trim()
        .parse()
        .map_err(|_| "memory, as in 64MiB, or 0".to_string())?;
    count
        .checked_mul(1 << power)
        .ok_or_else(|| "less memory".into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn any_options() -> impl Strategy<Value = EngineOptions> {
        let candidates = prop_oneof![1..300_usize, Just(usize::MAX)];
        let table = (0_usize..2_000, 0_u32..31).prop_map(|(count, power)| count << power);
        let names = (
            select(&CONSTANTS[..]),
            select(&NEIGHBOURHOODS[..]),
            select(&SPLITS[..]),
        );
        let rest = (any::<bool>(), any::<u32>(), any::<bool>(), any::<bool>());
        (1_usize..100, table, candidates, names, rest).prop_map(
            |(threads, table_bytes, candidates, names, rest)| EngineOptions {
                threads,
                table_bytes,
                constants: names.0.0,
                neighbourhood: names.1.0,
                candidates,
                seed: rest.0,
                leaf_fours: rest.1,
                selective: rest.2,
                vct: rest.3,
                split: names.2.0,
                end_tables: rest.1 as u8,
                evaluation: None,
            },
        )
    }

    proptest! {
        #[test]
        fn options_come_back_from_their_text(options in any_options()) {
            let text = options.to_string();
            prop_assert_eq!(text.parse(), Ok(options), "{}", text);
        }
    }

    #[test]
    fn texts_are_short_and_forgiving() {
        let default = EngineOptions::default();
        assert_eq!(default.to_string(), "default");
        assert_eq!(
            ["", "default", " default , "].map(str::parse),
            [Ok(default), Ok(default), Ok(default)]
        );
        let options: EngineOptions = "default, table=1GiB ,candidates=all,seed=off"
            .parse()
            .expect("options");
        assert_eq!(
            (options.table_bytes, options.candidates, options.seed),
            (1 << 30, usize::MAX, false)
        );
        assert_eq!(options.to_string(), "table=1GiB,candidates=all,seed=off");
        assert_eq!("table=4096".parse(), "table=4KiB".parse::<EngineOptions>());
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_way_out() {
        for (text, expected) in [
            ("fast", "'fast' is not a setting; write key=value"),
            (
                "seed=on,speed=9",
                "no engine option is called 'speed'; there are threads, table, constants",
            ),
            (
                "constants=blag",
                "constants=blag: constants must be own, matrix, count, evalue",
            ),
            ("seed=yes", "seed=yes: seed must be on, off"),
            (
                "threads=0",
                "threads=0: threads must be a whole number from 1",
            ),
            (
                "candidates=-3",
                "candidates must be a whole number from 1, or all",
            ),
            (
                "table=64MB",
                "table=64MB: table must be memory, as in 64MiB, or 0",
            ),
            ("table=99999999999GiB", "table must be less memory"),
            (
                "leaf-fours=5000000000",
                "leaf-fours must be a smaller number",
            ),
        ] {
            let error = text.parse::<EngineOptions>().expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
