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
mod job;
mod overview;
mod position;
mod settings;
mod status;
mod worker;

pub use kagetsu_book::describe_build;

pub use analysis::{EffortJson, QuestionJson, UpdateJson};
pub use answer::{AnswerJson, ResultsJson, ValueJson, VerdictJson, is_unknown};
pub use date::{date, day};
pub use error::{ErrorBody, ErrorJson};
pub use job::{AsideJson, HistoryPoint, JobJson, PriorityJson, job_state};
pub use overview::{OverviewFault, OverviewJson, RootJson, VariantOverviewJson};
pub use position::{ForbiddenJson, PositionJson};
pub use settings::{SettingsJson, StartJson, settings, settings_schema, start_schema};
pub use status::StatusJson;
pub use worker::WorkerJson;
