//! The client's side of a connection.

mod access;
mod connector;
mod credentials;
mod http2_preface;
mod leading;
mod proxy;
mod status;
mod tls;

pub use access::Access;
pub use connector::{AuthenticatedChannel, ConnectError, Connector, MESSAGE_LIMIT, keepalive};
pub use credentials::Credentials;
pub use leading::LEADER_HEADER;
pub use status::{IN_PROCESS, explain, is_transient};
#[cfg(test)]
pub(crate) use tls::Client as TlsClient;
