//! Authentication and authorisation: tokens with roles, and limits of requests.
//!
//! The [`Authenticator`] identifies callers. Every rpc is held to its [`Permission`],
//! for gRPC and for HTTP, which calls the same services in this process. Without a tokens file
//! every caller may do everything.

mod authenticator;
mod connections;
mod error;
mod http;
mod layer;
mod permission;
mod protection;
mod rate;
mod revocable;
mod role;
mod tokens;

pub use authenticator::{Authenticator, Principal, RequestCredentials};
pub use error::AuthError;
pub(crate) use http::authenticate_http;
pub(crate) use layer::authenticate_rpcs;
pub use permission::Permission;
pub use protection::{Protected, Protection};
pub use role::Role;
pub use tokens::{TokenEntry, Tokens, TokensError};
