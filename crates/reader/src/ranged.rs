use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A whole number with its default and its range, both bounds included. The command line, the
/// description of the API and every reader of a query take them from the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u32")]
pub struct Ranged<const DEFAULT: u32, const MIN: u32, const MAX: u32>(u32);

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> Ranged<DEFAULT, MIN, MAX> {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the number as a length.
    #[must_use]
    pub fn count(self) -> usize {
        self.0 as usize
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> TryFrom<u32>
    for Ranged<DEFAULT, MIN, MAX>
{
    type Error = String;

    fn try_from(value: u32) -> Result<Self, String> {
        if (MIN..=MAX).contains(&value) {
            return Ok(Self(value));
        }
        Err(format!("{value}: must be a number from {MIN} to {MAX}"))
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> Default for Ranged<DEFAULT, MIN, MAX> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> fmt::Display
    for Ranged<DEFAULT, MIN, MAX>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> FromStr for Ranged<DEFAULT, MIN, MAX> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse::<u32>();
        number.map_or_else(
            |_| Err(format!("must be a number from {MIN} to {MAX}")),
            Self::try_from,
        )
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> PartialSchema
    for Ranged<DEFAULT, MIN, MAX>
{
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(MIN))
            .maximum(Some(MAX))
            .default(Some(DEFAULT.into()))
            .into()
    }
}

impl<const DEFAULT: u32, const MIN: u32, const MAX: u32> ToSchema for Ranged<DEFAULT, MIN, MAX> {
    fn name() -> Cow<'static, str> {
        "Number".into()
    }
}
