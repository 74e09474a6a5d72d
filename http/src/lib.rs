//! The HTTP API of Kagetsu below `/api/v1`, and the explorer page at `/`.
//!
//! The API calls the gRPC services in this process: a request becomes a message, and the answer
//! becomes JSON. So a coordinator and a read-only server of a book have the same API. Each route
//! names the rpc that it stands for, whose permission it needs. The routes of the book and their
//! description are made from the [registry of views](kagetsu_reader::VIEWS); the description of the
//! others is made from their handlers, and a test compares it with the routes.
//!
//! This crate refuses to decide anything about positions, jobs or workers.
#![forbid(unsafe_code)]

mod access;
mod error;
mod extract;
mod handlers;
mod headers;
mod job_history;
mod middleware;
mod openapi;
mod page;
mod routes;
mod server;
mod services;
mod state;

pub use access::{AccessPolicy, Rights};
pub use extract::Caller;
pub use handlers::status::readiness;
pub use headers::with_browser_headers;
pub use middleware::names_tag;
pub use page::{page_files, program_files, program_for_browsers, site};
pub use routes::{Target, router, target};
pub use server::{ClientAddress, serve};
pub use services::{Backend, ServerInfo};
