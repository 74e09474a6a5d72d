//! The HTTP door of Kagetsu: its JSON, its API below `/api/v1`, and the page of the explorer at `/`.
//!
//! The door knows the services of the wire ([`Services`]) and no more: a request becomes a message, the service is called
//! as a function, and its answer becomes JSON. So a coordinator and a read-only server of a book have the same app.
//! `openapi.json` describes the API; a test holds it against the routes.
//!
//! What this crate refuses: any decision about positions, jobs or workers.
#![forbid(unsafe_code)]

mod access;
mod error;
mod extract;
mod handlers;
mod headers;
mod job_history;
mod middleware;
mod page;
mod routes;
mod server;
mod services;
mod state;

pub use access::{Access, Rights};
pub use headers::with_browser_headers;
pub use routes::{Target, router, target};
pub use server::{Client, serve};
pub use services::{Backend, CallerExtensions, ServerInfo};
