//! Who may ask what: tokens with roles, and how much of it.
//!
//! The [`Guard`] decides, whatever the request came in by; [`GuardLayer`] asks it for gRPC. Without a tokens file everybody
//! who reaches the coordinator may do everything.

mod bucket;
mod files;
mod gate;
mod http;
mod layer;
mod protection;
mod role;
mod tokens;

pub use gate::{Guard, Pass, Refusal};
pub(crate) use http::guard_http;
pub use layer::GuardLayer;
pub use protection::{Protected, Protection};
pub use role::{Need, Role};
pub use tokens::{TokenEntry, Tokens, TokensError};
