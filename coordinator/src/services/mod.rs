//! The gRPC services, and bounds on their concurrent use.

pub(crate) mod analysis;
pub(crate) mod archive;
pub(crate) mod books;
pub(crate) mod builds;
pub(crate) mod concurrency;
mod recent;
pub(crate) mod views;
pub(crate) mod workers;
