use serde::{Deserialize, Serialize};

use crate::answer::AnswerJson;

/// The limits of a search; it ends at the first that it reaches.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Effort))]
pub struct EffortJson {
    /// Plies.
    pub depth: Option<u32>,
    /// Positions visited.
    pub nodes: Option<u64>,
    /// Wall-clock time, in milliseconds.
    pub time_ms: Option<u64>,
}

/// A position to analyse, and how deeply.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Question))]
pub struct QuestionJson {
    /// The game, as in freestyle-15, renju-15, xiangqi or surakarta.
    pub variant: String,
    /// The position before the first move, for xiangqi and surakarta.
    pub fen: Option<String>,
    /// Moves, separated by spaces or commas.
    #[serde(default)]
    pub moves: String,
    /// Plies.
    pub depth: Option<u32>,
    /// Positions visited.
    pub nodes: Option<u64>,
    /// Wall-clock time, in milliseconds.
    pub time_ms: Option<u64>,
    /// The number of best moves to value.
    #[serde(default = "default_top")]
    pub top: u32,
}

/// The state of an analysis.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Update))]
pub struct UpdateJson {
    /// The answer so far.
    #[serde(flatten)]
    pub answer: AnswerJson,
    /// Connected workers; 0 while the question waits for the first.
    pub workers: u32,
    /// Whether this is the last update.
    pub is_final: bool,
}

const fn default_top() -> u32 {
    5
}

impl QuestionJson {
    /// The limits of the search.
    #[must_use]
    pub const fn effort(&self) -> EffortJson {
        EffortJson {
            depth: self.depth,
            nodes: self.nodes,
            time_ms: self.time_ms,
        }
    }
}

#[cfg(feature = "jobs")]
impl From<EffortJson> for kagetsu_proto::v1::Effort {
    fn from(effort: EffortJson) -> Self {
        Self {
            depth: effort.depth,
            nodes: effort.nodes,
            time_ms: effort.time_ms,
        }
    }
}
