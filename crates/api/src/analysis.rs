use serde::{Deserialize, Serialize};

use crate::answer::AnswerJson;

/// A position to analyse, and how deeply: the search ends at the first limit that it reaches.
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
