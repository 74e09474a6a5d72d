//! The settings of a build, in requests and in answers.

use kagetsu_book::JobSpec;
use kagetsu_game::Position;
use kagetsu_proto::v1;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[cfg(feature = "openapi")]
use utoipa::openapi::{RefOr, schema::Schema};

/// Number of roots, and of excluded positions, that the settings of a job list.
const MAX_LISTED_POSITIONS: usize = 100;

/// The settings that a job was started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Settings))]
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
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub build: Map<String, Value>,
}

/// A request to start a build.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Start))]
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
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub build: Map<String, Value>,
}

/// Returns the request that starts a job, with the first `most` roots and excluded positions.
#[must_use]
pub fn start_request(spec: &JobSpec, most: usize) -> v1::StartRequest {
    let first = |positions: &[Position]| positions.iter().take(most).map(Into::into).collect();
    v1::StartRequest {
        name: spec.name.clone(),
        roots: first(&spec.roots),
        exclude: first(&spec.exclude),
        settings: Value::Object(spec.build.to_json()).to_string(),
    }
}

/// Returns the settings of a job as a message, with the first roots and excluded positions only.
#[must_use]
pub fn settings(spec: &JobSpec) -> v1::Settings {
    v1::Settings {
        request: Some(start_request(spec, MAX_LISTED_POSITIONS)),
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

/// Returns the schemas of all settings of a build by their names; those of a job, which leaves some
/// out, may be null.
#[cfg(feature = "openapi")]
pub fn setting_schemas(may_be_null: bool) -> impl Iterator<Item = (String, RefOr<Schema>)> {
    kagetsu_book::BUILD_FIELDS.iter().map(move |field| {
        let schema = match may_be_null {
            true => nullable(field.schema()),
            false => field.schema(),
        };
        let schema = serde_json::from_value(schema).expect("a schema");
        (field.name.to_string(), schema)
    })
}

/// The schema of a value that may be null, as a setting is that a job leaves out.
#[cfg(feature = "openapi")]
fn nullable(mut schema: Value) -> Value {
    if let Some(kind @ Value::String(_)) = schema.get_mut("type") {
        *kind = serde_json::json!([kind.take(), "null"]);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    schema
}
