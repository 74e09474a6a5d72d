//! Authentication and authorisation: tokens with roles, and limits of requests.
//!
//! The [`Authenticator`] identifies callers. [`AuthLayer`] holds every rpc to its [`Permission`],
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
pub use layer::AuthLayer;
pub use permission::Permission;
pub use protection::{Protected, Protection};
pub use role::Role;
pub use tokens::{TokenEntry, Tokens, TokensError};
