//! The JSON types of Kagetsu: one answer has the same shape in every command and in the HTTP API.
//!
//! Each type is made from the messages of the wire or from the book, and knows how to serialize
//! itself. The feature `openapi` derives the schemas of the API's description from the same types.
//!
//! This crate refuses to read books, to connect to servers, and to decide anything.
#![forbid(unsafe_code)]

mod analysis;
mod answer;
mod archive;
mod error;
#[cfg(feature = "jobs")]
mod job;
mod overview;
mod position;
#[cfg(feature = "jobs")]
mod settings;
mod status;
#[cfg(feature = "jobs")]
mod worker;

#[cfg(feature = "jobs")]
pub use kagetsu_book::describe_build;

pub use analysis::{QuestionJson, UpdateJson};
pub use answer::{
    AnnotationsJson, AnswerJson, HandJson, ResultsJson, ValueJson, VerdictJson, best_first,
    is_unknown,
};
pub use archive::{ArchiveFileJson, ArchiveJson};
pub use error::{ErrorBody, ErrorJson};
#[cfg(feature = "jobs")]
pub use job::{AsideJson, HistoryPoint, JobJson, PriorityJson, job_message};
pub use kagetsu_compiled::{AnnotationJson, Day};
pub use overview::{OverviewJson, RootJson, VariantOverviewJson};
pub use position::{ForbiddenJson, PositionJson, read_position};
#[cfg(all(feature = "jobs", feature = "openapi"))]
pub use settings::setting_schemas;
#[cfg(feature = "jobs")]
pub use settings::{SettingsJson, StartJson, settings, start_request};
pub use status::StatusJson;
#[cfg(feature = "jobs")]
pub use worker::WorkerJson;
