//! An engine's process with all that it starts, which end together.
//!
//! On Unix these are its process group and, on Linux, the descendants that have left it. On Windows
//! they are a job, which the system ends with our process at the latest.

#[cfg(unix)]
mod descendants;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

#[cfg(unix)]
pub(crate) use system::GroupFamily as Family;
#[cfg(windows)]
pub(crate) use system::JobFamily as Family;
