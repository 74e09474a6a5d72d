//! The asynchronous runtime of a command.

use anyhow::Result;

/// Starts the runtime on which a command talks to servers.
///
/// # Errors
/// If the system has no more threads.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}
