//! The server's side of a connection.

mod connection;
mod listener;
mod log_throttle;
mod per_ip_limiter;
mod response_budget;
mod signals;
mod tls;

pub use connection::Connection;
pub use listener::Listener;
pub use log_throttle::LogThrottle;
pub use per_ip_limiter::{LimitReached, PerIpLimiter, PerIpPermit, network};
pub use response_budget::{BudgetedBody, ResponseBudget, ResponseSize};
pub use signals::{on_hangup, stop_requested};
pub use tls::{ServerFiles, ServerTls};
