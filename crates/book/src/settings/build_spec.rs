//! The settings of a build, in the one shape that every encoding shares.

use std::collections::BTreeSet;
use std::time::Duration;

use kagetsu_game::{Answer, Effort, Side};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::build_fields::{BUILD_FIELDS, BuildField};
use crate::error::spec_fault::{SpecFault, SpecFaults};
use crate::settings::policies::Policy;
use kagetsu_compiled::Day;

/// The settings of a build: how it chooses positions, how hard it searches them, and when it ends.
///
/// The command line, HTTP, gRPC and the journal all carry it as the JSON object that
/// [`BuildSpec::to_json`] writes. [`BUILD_FIELDS`] describes each field: the flags, the API
/// description and the form of the web page are made from that list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BuildSpec {
    /// The rule that decides which position is searched next.
    pub policy: Policy,
    /// The side that the policy is about.
    #[serde(with = "side_name")]
    pub side: Side,
    /// Plies by which a loss of 100 centi-units postpones a position.
    pub alpha: f64,
    /// Depth of each search, in plies.
    pub depth: Option<u8>,
    /// Positions that each search visits at most.
    pub nodes: Option<u64>,
    /// Wall-clock time of each search, in milliseconds.
    pub time_ms: Option<u64>,
    /// Number of best moves of each position that get an exact value and are followed.
    pub top: u16,
    /// Plies after the deepest root beyond which no line is followed.
    pub max_ply: Option<u16>,
    /// Moves that are worse than the best by more centi-units than this are not followed.
    pub margin: Option<u16>,
    /// Greatest random delay of a position, in plies.
    pub noise: f64,
    /// Seed of the random delays.
    pub seed: u64,
    /// Whether workers may share one position; the answers then depend on how it was divided.
    pub split: bool,
    /// Which known positions are searched again. With it the job adds nothing to the book.
    pub deepen: Option<Deepen>,
    /// Number of positions to add to the book, or to search again with `deepen`; `None` for no end.
    pub positions: Option<u64>,
    /// The job ends when its searches have visited this many positions, counted from when the limit
    /// was first set. Searches under way at that moment are finished.
    pub total_nodes: Option<u64>,
    /// The job ends when it has added this many positions in a row while every root kept its best
    /// move, and its value within 10 centi-units.
    pub until_stable: Option<u64>,
    /// Jobs of a book with a greater priority are served before the others.
    pub priority: i8,
    /// Settings of a later program, which this one keeps but does not understand.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Default for BuildSpec {
    fn default() -> Self {
        Self {
            policy: Policy::DROP_OUT,
            side: Side::First,
            alpha: 1.0,
            depth: None,
            nodes: None,
            time_ms: None,
            top: 3,
            max_ply: None,
            margin: None,
            noise: 0.0,
            seed: 0,
            split: false,
            deepen: None,
            positions: None,
            total_nodes: None,
            until_stable: None,
            priority: 0,
            unknown: Map::new(),
        }
    }
}

/// Which known positions a job searches again: those whose best move falls short in one of these
/// respects. Proven positions are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deepen {
    /// Searched with fewer plies than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u8>,
    /// Searched with fewer positions visited, all moves together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Searched before this day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Day>,
    /// Searched by another engine than this one, name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}

impl Deepen {
    /// Whether an answer falls short.
    pub(crate) fn wants(&self, answer: &Answer) -> bool {
        let Some((_, best)) = answer.best().filter(|(_, best)| best.proof.is_none()) else {
            return false;
        };
        self.depth.is_some_and(|depth| best.depth < depth)
            || self.nodes.is_some_and(|nodes| answer.nodes() < nodes)
            || self.before.is_some_and(|day| best.by.day < day.0)
            || self
                .engine
                .as_ref()
                .is_some_and(|engine| **engine != *best.by.engine)
    }
}

impl BuildSpec {
    /// Reads settings; those that are absent or null have their default.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn from_json(settings: Map<String, Value>) -> Result<Self, SpecFaults> {
        let given = settings.into_iter().filter(|(_, value)| !value.is_null());
        let (mut good, mut faults) = (Map::new(), Vec::new());
        for (name, value) in given {
            let found = match BuildField::named(&name) {
                Some(field) => field.faults(&value),
                None => vec![SpecFault::new(&name, "a build has no such setting")],
            };
            if found.is_empty() {
                good.insert(name, value);
            }
            faults.extend(found);
        }
        let spec = match serde_json::from_value::<Self>(Value::Object(good)) {
            Ok(spec) => spec,
            Err(error) => {
                faults.push(SpecFault::new("settings", error.to_string()));
                return Err(SpecFaults(faults));
            }
        };
        faults.extend(spec.contradictions());
        SpecFaults::check(faults).map(|()| spec.completed())
    }

    /// The same from the text of a JSON object; an empty text stands for no settings.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn from_json_text(text: &str) -> Result<Self, SpecFaults> {
        if text.is_empty() {
            return Ok(Self::default().completed());
        }
        let settings = serde_json::from_str(text).map_err(|error| {
            let problem = format!("not a JSON object of settings: {error}");
            SpecFaults(vec![SpecFault::new("settings", problem)])
        })?;
        Self::from_json(settings)
    }

    /// Writes all settings that the policy uses; one that has no value is null.
    ///
    /// # Panics
    /// Never: the settings are plain data.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut settings)) = serde_json::to_value(self) else {
            unreachable!("plain data")
        };
        settings.retain(|name, _| self.policy.uses(name));
        settings
    }

    /// Checks every setting by itself, and all of them together.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn validate(&self) -> Result<(), SpecFaults> {
        let Ok(Value::Object(settings)) = serde_json::to_value(self) else {
            unreachable!("plain data")
        };
        let defaults = serde_json::to_value(Self::default()).unwrap_or_default();
        let mut faults = Vec::new();
        for field in BUILD_FIELDS {
            let value = settings.get(field.name).unwrap_or(&Value::Null);
            let is_optional = defaults.get(field.name).is_none_or(Value::is_null);
            if *value != Value::Null || !is_optional {
                faults.extend(field.faults(value));
            }
        }
        let unknown = self.unknown.keys();
        faults.extend(unknown.map(|name| SpecFault::new(name, "a build has no such setting")));
        faults.extend(self.contradictions());
        SpecFaults::check(faults)
    }

    /// Returns the faults of settings that are valid each by itself.
    fn contradictions(&self) -> Vec<SpecFault> {
        let mut faults = Vec::new();
        if self.deepen.is_some() && !self.policy.info().can_deepen {
            let problem = format!(
                "needs another policy than {}: --deepen adds nothing",
                self.policy
            );
            faults.push(SpecFault::new("deepen", problem));
        }
        faults
    }

    /// Fills in the policy's choice for absent settings, and resets those that the policy ignores.
    #[must_use]
    pub fn completed(self) -> Self {
        let mut settings = self.to_json();
        let has_effort = self.effort() != Effort::default();
        for (name, value) in self.policy.info().defaults {
            let is_effort = matches!(*name, "depth" | "nodes" | "time_ms");
            if settings.get(*name).is_some_and(Value::is_null) && !(is_effort && has_effort) {
                settings.insert((*name).into(), (*value).into());
            }
        }
        serde_json::from_value(Value::Object(settings)).unwrap_or(self)
    }

    /// How hard each position is searched.
    #[must_use]
    pub fn effort(&self) -> Effort {
        Effort {
            depth: self.depth,
            nodes: self.nodes,
            time: self.time_ms.map(Duration::from_millis),
        }
    }

    /// The settings in which two builds differ, but for those that a running job may change.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let one = self.to_json();
        let other = other.to_json();
        let fields = BUILD_FIELDS.iter().filter(|field| !field.is_live);
        let differing = fields.filter(|field| one.get(field.name) != other.get(field.name));
        let known = differing.map(|field| match field.flag {
            Some(flag) => format!("--{flag}"),
            None => field.name.to_string(),
        });
        let is_unknown = |name: &&String| BuildField::named(name).is_none();
        let unknown = one.keys().chain(other.keys()).filter(is_unknown);
        let unknown: BTreeSet<&String> = unknown
            .filter(|name| one.get(*name) != other.get(*name))
            .collect();
        known.chain(unknown.into_iter().cloned()).collect()
    }
}

mod side_name {
    use kagetsu_game::Side;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(side: &Side, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(side)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Side, D::Error> {
        let name = String::deserialize(from)?;
        let unknown = || de::Error::custom(format!("'{name}' is not first or second"));
        Side::named(&name).ok_or_else(unknown)
    }
}
