//! Servers and clusters: `serve`, `workers`, `certs`, `token`.

pub(crate) mod certs;
pub(crate) mod serve;
pub(crate) mod token;
pub(crate) mod workers;
