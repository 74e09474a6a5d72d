//! The gRPC services, the adapter that HTTP calls them by, and bounds on concurrent use.

pub(crate) mod analysis;
pub(crate) mod books;
pub(crate) mod builds;
pub(crate) mod busy;
pub(crate) mod door;
pub(crate) mod reader;
pub(crate) mod workers;
