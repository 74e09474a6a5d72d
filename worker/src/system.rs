//! Calls that differ between systems.

use std::io;

/// Lets every other program go first: this thread, and those that it starts later.
#[cfg(unix)]
pub(crate) fn yield_to_others() -> io::Result<()> {
    /// The lowest priority.
    const LOWEST_PRIORITY: i32 = 19;
    Ok(rustix::process::setpriority_process(None, LOWEST_PRIORITY)?)
}

/// Lets every other program go first: this process, and those that it starts later.
#[cfg(windows)]
pub(crate) fn yield_to_others() -> io::Result<()> {
    let mut limits = win32job::ExtendedLimitInfo::new();
    limits.limit_priority_class(win32job::PriorityClass::Idle);
    let job = win32job::Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
    job.assign_current_process().map_err(io::Error::other)
}
