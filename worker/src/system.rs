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

/// Whether a battery is discharged, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn is_on_battery() -> bool {
    let is_used = |folder: &std::path::Path| {
        let says = |file: &str, word: &str| {
            let text = std::fs::read_to_string(folder.join(file));
            text.is_ok_and(|text| text.trim() == word)
        };
        // A mouse has a battery of its own.
        says("status", "Discharging") && !says("scope", "Device")
    };
    let supplies = std::fs::read_dir("/sys/class/power_supply");
    let mut supplies = supplies.into_iter().flatten().flatten();
    supplies.any(|supply| is_used(&supply.path()))
}

/// Whether a battery is discharged, where the system tells.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_battery() -> bool {
    let all = starship_battery::Manager::new().and_then(|manager| manager.batteries());
    let mut all = all.into_iter().flatten().flatten();
    all.any(|battery| battery.state() == starship_battery::State::Discharging)
}
