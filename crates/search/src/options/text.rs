//! Text form of engine options, as in `seed=off,candidates=12,table=64MiB`.

use std::fmt;
use std::num::IntErrorKind;
use std::ops::RangeFrom;
use std::str::FromStr;

use crate::{Constants, EngineOptions, Neighbourhood, ThreadSplit};

/// Text of the default options; other settings may follow it.
const DEFAULT: &str = "default";
/// Name of an unlimited number of candidates.
const ALL: &str = "all";
/// Units of memory as powers of two, the largest first.
const UNITS: [(u32, &str); 4] = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];

kagetsu_game::names!(Constants {
    Own = "own",
    Matrix = "matrix",
    Count = "count",
    Evalue = "evalue",
});
kagetsu_game::names!(Neighbourhood { Paper12 = "paper-12", Square24 = "square-24" });
kagetsu_game::names!(ThreadSplit { Shared = "shared", Seeded = "seeded" });

/// The error in the text of engine options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(String);

/// One setting: its key, its text in some options, and its change by a text, which fails with what
/// the key expects.
struct Setting {
    key: &'static str,
    text: fn(&EngineOptions) -> String,
    set: fn(&mut EngineOptions, &str) -> Result<(), String>,
}

/// The setting of a field of the options that a function writes and another reads.
macro_rules! setting {
    ($key:literal, $field:ident, $write:expr, $read:expr) => {
        Setting {
            key: $key,
            text: |options| $write(&options.$field),
            set: |options, text| {
                options.$field = $read(text)?;
                Ok(())
            },
        }
    };
}

/// All settings, in the order in which they are written.
const SETTINGS: [Setting; 11] = [
    setting!("threads", threads, ToString::to_string, from_one),
    setting!("table", table_bytes, memory, bytes),
    setting!("constants", constants, ToString::to_string, |text| {
        Constants::named(text).ok_or_else(|| one_of(&Constants::ALL))
    }),
    setting!(
        "neighbourhood",
        neighbourhood,
        ToString::to_string,
        |text| { Neighbourhood::named(text).ok_or_else(|| one_of(&Neighbourhood::ALL)) }
    ),
    setting!("candidates", candidates, count_or_all, |text| match text {
        ALL => Ok(usize::MAX),
        _ => from_one(text).map_err(|expected| format!("{expected}, or {ALL}")),
    }),
    setting!("seed", seed, switch, is_on),
    setting!(
        "leaf-fours",
        leaf_fours,
        ToString::to_string,
        |text| number(text, 0..)
    ),
    setting!("selective", selective, switch, is_on),
    setting!("vct", vct, switch, is_on),
    setting!("split", split, ToString::to_string, split_of),
    setting!(
        "end-tables",
        end_tables,
        ToString::to_string,
        |text| number(text, 0..)
    ),
];

/// Writes the settings that differ from the default, separated by commas, or `default` if there are
/// none.
impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Self::default();
        let words = SETTINGS.iter().filter_map(|Setting { key, text, .. }| {
            let own = text(self);
            (own != text(&default)).then(|| format!("{key}={own}"))
        });
        let words: Vec<String> = words.collect();
        match words.is_empty() {
            true => f.write_str(DEFAULT),
            false => f.write_str(&words.join(",")),
        }
    }
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
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                OptionsError(format!(
                    "'{setting}' is not a setting; write key=value, with commas between them, as in \
                     seed=off,candidates=12"
                ))
            })?;
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }
}

impl FromStr for ThreadSplit {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, OptionsError> {
        split_of(text).map_err(|expected| wrong("split", text, &expected))
    }
}

impl EngineOptions {
    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionsError> {
        let known = SETTINGS.iter().find(|setting| setting.key == key);
        let known = known.ok_or_else(|| {
            let keys = SETTINGS.map(|setting| setting.key).join(", ");
            OptionsError(format!(
                "no engine option is called '{key}'; there are {keys}"
            ))
        })?;
        (known.set)(self, value).map_err(|expected| wrong(key, value, &expected))
    }
}

fn wrong(key: &str, value: &str, expected: &str) -> OptionsError {
    OptionsError(format!("{key}={value}: {key} must be {expected}"))
}

fn split_of(text: &str) -> Result<ThreadSplit, String> {
    ThreadSplit::named(text).ok_or_else(|| one_of(&ThreadSplit::ALL))
}

fn one_of(values: &[impl ToString]) -> String {
    let names: Vec<String> = values.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn switch(is_on: &bool) -> String {
    if *is_on { "on" } else { "off" }.into()
}

fn is_on(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("on, off".into()),
    }
}

fn count_or_all(count: &usize) -> String {
    match *count {
        usize::MAX => ALL.into(),
        count => count.to_string(),
    }
}

fn from_one(text: &str) -> Result<usize, String> {
    number(text, 1..)
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

fn memory(bytes: &usize) -> String {
    let fits = |&&(power, _): &&(u32, &str)| *bytes > 0 && bytes.trailing_zeros() >= power;
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
            select(&Constants::ALL[..]),
            select(&Neighbourhood::ALL[..]),
            select(&ThreadSplit::ALL[..]),
        );
        let rest = (any::<bool>(), any::<u32>(), any::<bool>(), any::<bool>());
        (1_usize..100, table, candidates, names, rest).prop_map(
            |(threads, table_bytes, candidates, names, rest)| EngineOptions {
                threads,
                table_bytes,
                constants: names.0,
                neighbourhood: names.1,
                candidates,
                seed: rest.0,
                leaf_fours: rest.1,
                selective: rest.2,
                vct: rest.3,
                split: names.2,
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
