//! The HTTP door of Kagetsu: its JSON, its API below `/api/v1`, and the page of the explorer at `/`.
//!
//! The door knows the services of the wire ([`Services`]) and no more: a request becomes a message, the service is called
//! as a function, and its answer becomes JSON. So a coordinator and a read-only server of a book have the same door.
//! `openapi.json` describes the API; a test holds it against the routes.
//!
//! What this crate refuses: any decision about positions, jobs or workers.
#![forbid(unsafe_code)]

mod access;
mod analyses;
mod books;
mod builds;
mod history;
pub mod json;
mod nobody;
mod page;
mod params;
mod place;
mod refusal;
mod routes;
mod serve;
mod services;
mod settings;
mod status;
mod streams;
mod transpositions;
mod tree;
mod workers;

pub use access::{Access, Rights, headed};
pub use builds::{AsideJson, JobJson, state};
pub use nobody::Nobody;
pub use routes::router;
pub use serve::{Client, serve};
pub use services::Services;
pub use settings::{DeepenJson, SettingsJson, settings};
pub use workers::WorkerJson;
