//! Growth policies: the rules by which a job chooses what to search next. Each stands in a file of
//! its own; [`REGISTRY`] lists them all.

mod drop_out;
pub(crate) mod growth_policy;
mod one_side;
mod prove;
pub(crate) mod selection;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use self::growth_policy::{GrowthPolicy, PolicyInfo};

/// A growth policy.
#[derive(Clone, Copy)]
pub struct Policy(&'static dyn GrowthPolicy);

/// All growth policies, the default one first.
pub const REGISTRY: &[Policy] = &[Policy::DROP_OUT, Policy::ONE_SIDE, Policy::PROVE];

impl Policy {
    /// Drop-out expansion: the positions nearest to the roots first, where a worse move counts as
    /// farther away.
    pub const DROP_OUT: Self = Self(&drop_out::DropOut);
    /// A repertoire for one side.
    pub const ONE_SIDE: Self = Self(&one_side::OneSide);
    /// A proof that one side wins.
    pub const PROVE: Self = Self(&prove::Prove);

    /// Its fixed properties.
    #[must_use]
    pub fn info(self) -> &'static PolicyInfo {
        self.0.info()
    }

    /// Whether it has a use for a setting.
    #[must_use]
    pub fn uses(self, setting: &str) -> bool {
        !self.info().ignores.contains(&setting)
    }

    pub(crate) fn rules(self) -> &'static dyn GrowthPolicy {
        self.0
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.info().name == other.info().name
    }
}

impl Eq for Policy {}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({})", self.info().name)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = REGISTRY.iter().find(|policy| policy.info().name == name);
        known
            .copied()
            .ok_or_else(|| format!("there is no growth policy '{name}'"))
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.info().name)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}
