//! The settings of a build, in requests and in answers.

use kagetsu_book::{BUILD_FIELDS, JobSpec};
use kagetsu_game::Position;
use kagetsu_proto::v1;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Number of roots, and of excluded positions, that the settings of a job list.
const MAX_LISTED_POSITIONS: usize = 100;

/// The settings that a job was started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SettingsJson {
    /// The first roots, as moves or FEN.
    pub roots: Vec<String>,
    /// Number of roots.
    pub root_count: u64,
    /// The first positions that are never entered, as moves or FEN.
    pub exclude: Vec<String>,
    /// Number of positions that are never entered.
    pub exclude_count: u64,
    /// The settings that the job's policy uses, by name.
    #[serde(flatten)]
    pub build: Map<String, Value>,
}

/// A request to start a build.
#[derive(Clone, Debug, Deserialize)]
pub struct StartJson {
    /// The job's name.
    pub name: String,
    /// The game, as in freestyle-15.
    pub variant: String,
    /// Lines of moves to the roots; none for the start of the game.
    #[serde(default)]
    pub roots: Vec<String>,
    /// The position where all lines of this request begin, as FEN.
    pub fen: Option<String>,
    /// Lines of moves to positions that are never entered.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Lines of which every position is a root.
    #[serde(default)]
    pub cover: Vec<String>,
    /// The settings of the build, by name.
    #[serde(flatten)]
    pub build: Map<String, Value>,
}

/// Returns the settings of a job as a message, with the first roots and excluded positions only.
#[must_use]
pub fn settings(spec: &JobSpec) -> v1::Settings {
    let first = |positions: &[Position]| {
        positions
            .iter()
            .take(MAX_LISTED_POSITIONS)
            .map(Into::into)
            .collect()
    };
    let request = v1::StartRequest {
        name: spec.name.clone(),
        roots: first(&spec.roots),
        exclude: first(&spec.exclude),
        settings: Value::Object(spec.build.to_json()).to_string(),
    };
    v1::Settings {
        request: Some(request),
        roots: spec.roots.len() as u64,
        exclude: spec.exclude.len() as u64,
    }
}

/// Writes a position as moves or FEN; `None` if this program does not know it, as one of a later
/// coordinator.
fn position_text(position: &v1::Position) -> Option<String> {
    let position = Position::try_from(position).ok()?;
    if let Some(line) = position.line() {
        let moves: Vec<String> = line.iter().map(|&m| position.write_move(m)).collect();
        return Some(moves.join(" "));
    }
    Some(position.fen().unwrap_or_else(|_| position.to_string()))
}

impl From<&v1::Settings> for SettingsJson {
    fn from(settings: &v1::Settings) -> Self {
        let request = settings.request.clone().unwrap_or_default();
        Self {
            roots: request.roots.iter().filter_map(position_text).collect(),
            root_count: settings.roots,
            exclude: request.exclude.iter().filter_map(position_text).collect(),
            exclude_count: settings.exclude,
            build: serde_json::from_str(&request.settings).unwrap_or_default(),
        }
    }
}

/// The JSON Schema of [`StartJson`].
#[must_use]
pub fn start_schema() -> Value {
    let text = |what: &str| json!({"type": "string", "description": what});
    let own = [
        ("name", text("The job's name")),
        ("variant", text("The game, as in freestyle-15")),
        (
            "roots",
            lines_schema("Lines of moves to the roots; none for the start of the game"),
        ),
        (
            "fen",
            text("The position where all lines of this request begin, as FEN"),
        ),
        (
            "exclude",
            lines_schema("Lines of moves to positions that are never entered"),
        ),
        (
            "cover",
            lines_schema("Lines of which every position is a root"),
        ),
    ];
    with_settings(own, &["name", "variant"], |schema| schema)
}

/// The JSON Schema of [`SettingsJson`].
#[must_use]
pub fn settings_schema() -> Value {
    let count = |what: &str| json!({"type": "integer", "description": what});
    let own = [
        (
            "roots",
            lines_schema("The first 100 roots, as moves or FEN"),
        ),
        ("root_count", count("Number of roots")),
        (
            "exclude",
            lines_schema("The first 100 positions that are never entered, as moves or FEN"),
        ),
        (
            "exclude_count",
            count("Number of positions that are never entered"),
        ),
    ];
    let required = ["roots", "root_count", "exclude", "exclude_count"];
    with_settings(own, &required, nullable)
}

/// The schema of an object with some properties and all settings of a build.
fn with_settings<const N: usize>(
    own: [(&str, Value); N],
    required: &[&str],
    changed: fn(Value) -> Value,
) -> Value {
    let own = own.map(|(name, schema)| (name.to_string(), schema));
    let settings = BUILD_FIELDS
        .iter()
        .map(|field| (field.name.to_string(), changed(field.schema())));
    let properties: Map<String, Value> = own.into_iter().chain(settings).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of a value that may be null, as a setting is that a job leaves out.
fn nullable(mut schema: Value) -> Value {
    if let Some(kind @ Value::String(_)) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    schema
}

fn lines_schema(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

#[cfg(feature = "openapi")]
mod openapi {
    use std::borrow::Cow;

    use utoipa::openapi::{RefOr, schema::Schema};
    use utoipa::{PartialSchema, ToSchema};

    use super::{SettingsJson, StartJson, settings_schema, start_schema};

    impl PartialSchema for SettingsJson {
        fn schema() -> RefOr<Schema> {
            serde_json::from_value(settings_schema()).expect("a schema")
        }
    }

    impl ToSchema for SettingsJson {
        fn name() -> Cow<'static, str> {
            "Settings".into()
        }
    }

    impl PartialSchema for StartJson {
        fn schema() -> RefOr<Schema> {
            serde_json::from_value(start_schema()).expect("a schema")
        }
    }

    impl ToSchema for StartJson {
        fn name() -> Cow<'static, str> {
            "Start".into()
        }
    }
}
