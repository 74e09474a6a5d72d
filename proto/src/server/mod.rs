//! The server's side of a connection.

mod handshake_limiter;
mod listener;
mod log_throttle;
mod per_ip_limiter;
mod response_budget;
mod tls;
mod write_timeout;

pub use listener::{Connection, Listener};
pub use log_throttle::Seldom;
pub use per_ip_limiter::{Full, Share, Shares};
pub use response_budget::{Bounding, Unread, Waiting, Weight};
pub use tls::{ServerFiles, ServerTls};
