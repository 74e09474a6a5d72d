//! The client's side of a connection.

mod access;
mod bearer;
mod connector;
mod http2_preface;
mod status;
mod tls;

pub use access::{Access, AccessError};
pub use bearer::Bearer;
pub use connector::{Caller, ConnectError, Connector, MESSAGE_LIMIT, keepalive};
pub use status::{HERE, explain, is_lost};
#[cfg(test)]
pub(crate) use tls::Client as TlsClient;
