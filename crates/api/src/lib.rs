//! The JSON types of Kagetsu: one answer has the same shape in every command and in the HTTP API.
//!
//! Each type is made from the messages of the wire or from the book, and knows how to serialize
//! itself. The feature `openapi` derives the schemas of the API's description from the same types.
//!
//! This crate refuses to read books, to connect to servers, and to decide anything.
#![forbid(unsafe_code)]

mod analysis;
mod answer;
mod date;
mod error;
mod games;
mod job;
mod lookup;
mod overview;
mod settings;
mod standing;
mod statistics;
mod status;
mod suspects;
mod worker;

pub use kagetsu_book::{Nearest, Overview, describe_build};

pub use analysis::{EffortJson, QuestionJson, UpdateJson};
pub use answer::{AnswerJson, ValueJson, VerdictJson, is_unknown};
pub use date::{date, day};
pub use error::{ErrorBody, ErrorJson};
pub use games::{GameJson, GamesJson, MoveGamesJson, games_filter, games_message, read_games};
pub use job::{AsideJson, HistoryPoint, JobJson, PriorityJson, job_state};
pub use lookup::{
    BranchJson, ForbiddenJson, ParentJson, PickJson, PositionJson, SuccessorJson,
    TranspositionsJson, TreeJson,
};
pub use overview::{OverviewJson, RootJson, VariantOverviewJson, overview_message, read_overview};
pub use settings::{SettingsJson, StartJson, settings, settings_schema, start_schema};
pub use standing::{PrioritiesJson, StandingJson, StepJson, standings_message};
pub use statistics::{
    GradeJson, HoleJson, StatisticsJson, counted_message, graded_message, read_statistics,
};
pub use status::StatusJson;
pub use suspects::{SuspectJson, SuspectsJson, read_suspect, suspect_message};
pub use worker::WorkerJson;
