//! The descriptions of build settings: defaults, JSON Schema, and the form of the web page.

use kagetsu_game::MAX_NAME_BYTES;
use serde_json::{Map, Value, json};

use super::build_fields::FieldKind::{self, Choice, Integer, Object, Real, Switch, Text};
use super::build_fields::{BUILD_FIELDS, BuildField};
use super::build_spec::BuildSpec;
use crate::settings::policies::{Policy, REGISTRY};

impl BuildField {
    /// Its value where nothing else is said; null if it then has none, or if the policy chooses it.
    #[must_use]
    pub fn default_value(&self) -> Value {
        serde_json::to_value(BuildSpec::default())
            .ok()
            .and_then(|mut defaults| defaults.get_mut(self.name).map(Value::take))
            .unwrap_or_default()
    }

    /// The JSON Schema of its values, as the API description has it.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Switch => json!({"type": "boolean"}),
            Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Real { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
            FieldKind::Policy | Choice(_) => {
                let names: Vec<&str> = self.choices().iter().map(|(name, _)| *name).collect();
                json!({"type": "string", "enum": names})
            }
            FieldKind::Day => json!({"type": "string", "format": "date"}),
            Text => json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME_BYTES}),
            Object(fields) => {
                let properties = fields
                    .iter()
                    .map(|field| (field.name.into(), field.schema()));
                json!({"type": "object", "properties": properties.collect::<Map<_, _>>()})
            }
        };
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(", in {}", self.unit)
        };
        schema["description"] = format!("{}{unit}", self.help).into();
        let default = self.default_value();
        if !default.is_null() {
            schema["default"] = default;
        }
        schema
    }

    /// Describes the setting for the form of the web page.
    #[must_use]
    pub fn describe(&self) -> Value {
        let choices = self.choices();
        let choice = |(name, help): &(&str, &str)| json!({"name": name, "help": help});
        let mut described = json!({
            "name": self.name, "flag": self.flag, "unit": self.unit, "label": self.label,
            "help": self.help, "is_live": self.is_live, "is_basic": self.is_basic,
            "schema": self.schema(), "choices": choices.iter().map(choice).collect::<Vec<_>>(),
        });
        if let Object(fields) = self.kind {
            described["fields"] = fields.iter().map(Self::describe).collect();
        }
        described
    }
}

/// The whole list with the policies, as the web page reads it.
#[must_use]
pub fn describe_build() -> Value {
    let policy = |policy: &Policy| {
        let info = policy.info();
        let used = BUILD_FIELDS.iter().map(|field| field.name);
        json!({
            "name": info.name, "label": info.label, "help": info.help,
            "defaults": info.defaults.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect::<Map<_, _>>(),
            "fields": used.filter(|name| policy.uses(name)).collect::<Vec<_>>(),
            "can_deepen": info.can_deepen,
        })
    };
    json!({
        "policies": REGISTRY.iter().map(policy).collect::<Vec<_>>(),
        "fields": BUILD_FIELDS.iter().map(BuildField::describe).collect::<Vec<_>>(),
    })
}
