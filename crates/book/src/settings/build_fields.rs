//! The list of the settings of a build: the command line, the API description and the form of the
//! web page are made from it.

use kagetsu_game::{MAX_NAME_BYTES, is_printable_name, quote};
use serde_json::{Map, Value};

use crate::error::spec_fault::{SpecFault, SpecFaults};
use crate::settings::policies::REGISTRY;
use kagetsu_compiled::Day;

/// One setting of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildField {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its flag on the command line, without the dashes; `None` if it has none of its own.
    pub flag: Option<&'static str>,
    /// Its type and range.
    pub kind: FieldKind,
    /// The unit of its value; empty if it has none.
    pub unit: &'static str,
    /// A few words that stand beside its input field.
    pub label: &'static str,
    /// One sentence that says what it does.
    pub help: &'static str,
    /// Whether it may be changed on a running job. Another value of any other setting makes
    /// another job.
    pub is_live: bool,
    /// Whether the form shows it at once, and not only under "More".
    pub is_basic: bool,
}

/// The type of a setting, and its range.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// True or false; a flag without a value.
    Switch,
    /// A whole number, both bounds included.
    Integer {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: u64,
    },
    /// A number, both bounds included.
    Real {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// A growth policy.
    Policy,
    /// One of these words, each with its explanation.
    Choice(&'static [(&'static str, &'static str)]),
    /// A day, as 2026-11-21.
    Day,
    /// Some text.
    Text,
    /// An object of settings.
    Object(&'static [BuildField]),
}

use FieldKind::{Choice, Integer, Object, Real, Switch, Text};

const fn whole(min: i64, max: u64) -> FieldKind {
    Integer { min, max }
}

const fn real(min: f64, max: f64) -> FieldKind {
    Real { min, max }
}

const DEFAULTS: BuildField = BuildField {
    name: "",
    flag: None,
    kind: Switch,
    unit: "",
    label: "",
    help: "",
    is_live: false,
    is_basic: false,
};

/// Positions that a job can be asked for.
pub const MAX_POSITIONS: u64 = 1_000_000_000_000;
/// Nodes that a search or a job can be asked for.
pub const MAX_NODES: u64 = 1_000_000_000_000_000;
/// Time of one search, in milliseconds: 30 days.
const MAX_TIME_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// All settings of a build, in the order in which they are shown.
pub const BUILD_FIELDS: &[BuildField] = &[
    BuildField {
        name: "policy",
        flag: Some("policy"),
        kind: FieldKind::Policy,
        label: "Goal",
        help: "Rule that decides which position is searched next",
        is_basic: true,
        ..DEFAULTS
    },
    BuildField {
        name: "side",
        flag: Some("side"),
        kind: Choice(&[
            ("first", "The side that makes the first move of a game"),
            ("second", "The other side"),
        ]),
        label: "Side",
        help: "Side whose win `prove` looks for, or for which `one-side` builds a repertoire",
        is_basic: true,
        ..DEFAULTS
    },
    BuildField {
        name: "alpha",
        flag: Some("alpha"),
        kind: real(0.0, 1_000.0),
        unit: "plies",
        label: "Plies that a loss of 1.00 weighs",
        help: "Plies by which a loss of 100 centi-units postpones a move: 0 searches ply by ply, \
               more follows the best lines deeper",
        ..DEFAULTS
    },
    BuildField {
        name: "depth",
        flag: Some("depth"),
        kind: whole(1, 100),
        unit: "plies",
        label: "Depth of each search",
        help: "Depth of each search; a value from positions behind counts the plies to them, too",
        is_basic: true,
        ..DEFAULTS
    },
    BuildField {
        name: "nodes",
        flag: Some("nodes"),
        kind: whole(1, MAX_NODES),
        unit: "positions",
        label: "Nodes of each search",
        help: "Positions that each search visits at most; with `prove`, each threat search",
        is_basic: true,
        ..DEFAULTS
    },
    BuildField {
        name: "time_ms",
        kind: whole(1, MAX_TIME_MS),
        unit: "milliseconds",
        label: "Time of each search, in ms",
        help: "Time of each search",
        ..DEFAULTS
    },
    BuildField {
        name: "top",
        flag: Some("top"),
        kind: whole(1, 1_000),
        unit: "moves",
        label: "Moves followed",
        help: "Number of best moves of each position that get an exact value and are followed",
        is_basic: true,
        ..DEFAULTS
    },
    BuildField {
        name: "max_ply",
        flag: Some("max-ply"),
        kind: whole(0, 65_535),
        unit: "plies",
        label: "Plies after the root, at most",
        help: "Follows no line further than this beyond the deepest root",
        ..DEFAULTS
    },
    BuildField {
        name: "margin",
        flag: Some("margin"),
        kind: whole(0, 65_535),
        unit: "centi-units",
        label: "Loss that a move may have at most, in 1/100",
        help: "Follows no move that is worse than the best by more than this",
        ..DEFAULTS
    },
    BuildField {
        name: "noise",
        flag: Some("noise"),
        kind: real(0.0, 100.0),
        unit: "plies",
        label: "Random delay, in plies",
        help: "Postpones each position by up to this much at random, so that the book has fewer \
               holes near the root",
        ..DEFAULTS
    },
    BuildField {
        name: "seed",
        flag: Some("seed"),
        kind: whole(0, u64::MAX),
        label: "Seed of the random delay",
        help: "Seed of the random generator behind `noise`",
        ..DEFAULTS
    },
    BuildField {
        name: "split",
        flag: Some("share-positions"),
        kind: Switch,
        label: "Share positions",
        help: "Lets idle workers share one position; the answers then depend on how it was divided",
        ..DEFAULTS
    },
    BuildField {
        name: "deepen",
        kind: Object(DEEPEN_FIELDS),
        label: "Deepen",
        help: "Searches known positions again that fall short in one of these respects, and adds \
               nothing to the book",
        ..DEFAULTS
    },
    BuildField {
        name: "positions",
        flag: Some("positions"),
        kind: whole(1, MAX_POSITIONS),
        unit: "positions",
        label: "Positions in all",
        help: "Positions that the job adds to the book in all, over all its runs, or searches \
               again when deepening",
        is_live: true,
        is_basic: true,
    },
    BuildField {
        name: "total_nodes",
        flag: Some("total-nodes"),
        kind: whole(1, MAX_NODES),
        unit: "positions",
        label: "Ends after nodes in all",
        help: "Ends the job when its searches have visited this many positions in all; searches \
               under way are finished",
        is_live: true,
        ..DEFAULTS
    },
    BuildField {
        name: "until_stable",
        flag: Some("until-stable"),
        kind: whole(1, MAX_POSITIONS),
        unit: "positions",
        label: "Ends after positions without change",
        help: "Ends the job when this many new positions in a row changed no root's best move, and \
               no root's value by more than 0.10",
        is_live: true,
        ..DEFAULTS
    },
    BuildField {
        name: "priority",
        flag: Some("priority"),
        kind: whole(-100, 100),
        label: "Priority",
        help: "Priority among the jobs of a book: a greater one is served first",
        is_live: true,
        ..DEFAULTS
    },
];

const DEEPEN_FIELDS: &[BuildField] = &[
    BuildField {
        name: "depth",
        kind: whole(1, 100),
        unit: "plies",
        label: "Searched less deeply",
        help: "Positions searched less deeply than this",
        ..DEFAULTS
    },
    BuildField {
        name: "nodes",
        kind: whole(1, MAX_NODES),
        unit: "positions",
        label: "Searched with fewer nodes",
        help: "Positions whose search visited fewer positions than this, all moves together",
        ..DEFAULTS
    },
    BuildField {
        name: "before",
        kind: FieldKind::Day,
        label: "Searched before",
        help: "Positions searched before this day, as 2026-11-21",
        ..DEFAULTS
    },
    BuildField {
        name: "engine",
        kind: Text,
        label: "Searched by another engine",
        help: "Positions searched by another engine than this, name and version",
        ..DEFAULTS
    },
];

/// Says what is wrong with a value that must be a short printable text.
pub(crate) fn no_text(text: Option<&str>) -> String {
    let text = quote(text.unwrap_or_default());
    format!("'{text}' is not a text of 1 to {MAX_NAME_BYTES} bytes that can be printed")
}

impl BuildField {
    /// The field of this JSON name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILD_FIELDS.iter().find(|field| field.name == name)
    }

    /// Reads its value from the text of a flag.
    ///
    /// # Errors
    /// Why the text is no value of this setting.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Integer { .. } => text
                .parse::<i64>()
                .map(Value::from)
                .or_else(|_| text.parse::<u64>().map(Value::from))
                .map_err(|_| format!("'{text}' is not a whole number{}", self.range()))?,
            Real { .. } => text
                .parse::<f64>()
                .map(Value::from)
                .map_err(|_| format!("'{text}' is not a number{}", self.range()))?,
            Switch => text
                .parse::<bool>()
                .map(Value::from)
                .map_err(|_| format!("'{text}' is not true or false"))?,
            _ => text.into(),
        };
        match self.faults(&value).pop() {
            Some(fault) => Err(fault.problem),
            None => Ok(value),
        }
    }

    /// Checks a value of this setting.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self, value: &Value) -> Result<(), SpecFaults> {
        SpecFaults::check(self.faults(value))
    }

    /// The words that it takes, each with its explanation; empty if it takes no words.
    #[must_use]
    pub fn choices(&self) -> Vec<(&'static str, &'static str)> {
        match self.kind {
            FieldKind::Policy => REGISTRY
                .iter()
                .map(|policy| (policy.info().name, policy.info().help))
                .collect(),
            Choice(choices) => choices.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The range in words, with a space before it; empty if it has none.
    #[must_use]
    pub fn range(&self) -> String {
        match self.kind {
            Integer { min, max } => format!(" from {min} to {max}"),
            Real { min, max } => format!(" from {min} to {max}"),
            _ => String::new(),
        }
    }

    /// Everything that is wrong with a value of this setting.
    pub(crate) fn faults(&self, value: &Value) -> Vec<SpecFault> {
        let expected = |what: &str| {
            let value = value.to_string();
            let problem = format!("{} is not {what}{}", quote(&value), self.range());
            vec![SpecFault::new(self.name, problem)]
        };
        let out_of_range = || {
            let problem = format!("{value} is not a number{}", self.range());
            vec![SpecFault::new(self.name, problem)]
        };
        match self.kind {
            Switch if value.is_boolean() => Vec::new(),
            Switch => expected("true or false"),
            Integer { min, max } => match (value.as_i64(), value.as_u64()) {
                (None, None) => expected("a whole number"),
                (_, Some(number)) if min <= 0 || number >= min.unsigned_abs() => {
                    if number <= max {
                        Vec::new()
                    } else {
                        out_of_range()
                    }
                }
                (Some(number), None) if number >= min => Vec::new(),
                _ => out_of_range(),
            },
            Real { min, max } => match value.as_f64() {
                None => expected("a number"),
                Some(number) if (min..=max).contains(&number) => Vec::new(),
                Some(_) => out_of_range(),
            },
            FieldKind::Policy | Choice(_) => {
                let choices = self.choices();
                if choices.iter().any(|(name, _)| value == name) {
                    return Vec::new();
                }
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                expected(&format!("one of {}", names.join(", ")))
            }
            FieldKind::Day => match value.as_str().map(str::parse::<Day>) {
                Some(Ok(_)) => Vec::new(),
                Some(Err(error)) => vec![SpecFault::new(self.name, error.to_string())],
                None => expected("a day as 2026-11-21"),
            },
            Text => match value.as_str() {
                Some(text) if !text.is_empty() && is_printable_name(text) => Vec::new(),
                _ => vec![SpecFault::new(self.name, no_text(value.as_str()))],
            },
            Object(fields) => match value {
                Value::Object(object) => self.object_faults(fields, object),
                _ => expected("an object"),
            },
        }
    }

    fn object_faults(&self, fields: &[Self], object: &Map<String, Value>) -> Vec<SpecFault> {
        let mut faults = Vec::new();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let found = match fields.iter().find(|field| field.name == name) {
                Some(field) => field.faults(value),
                None => vec![SpecFault::new(name, "there is no such setting")],
            };
            faults.extend(found.into_iter().map(|fault| SpecFault {
                field: format!("{}.{}", self.name, fault.field),
                ..fault
            }));
        }
        faults
    }
}
