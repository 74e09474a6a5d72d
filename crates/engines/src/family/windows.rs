use std::io;
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};

use win32job::{ExtendedLimitInfo, Job};

/// An engine gets no console of its own, and no Ctrl-C of ours.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A running engine. It and all that it started are killed on drop.
pub(crate) struct JobFamily {
    /// The system kills its processes when the last handle is closed, also where ours is killed.
    _job: Job,
}

impl JobFamily {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Self, Child)> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        let mut child = command.creation_flags(CREATE_NO_WINDOW).spawn()?;
        let joined = job.assign_process(child.as_raw_handle() as isize);
        if let Err(error) = joined {
            let _ = child.kill();
            return Err(io::Error::other(error));
        }
        Ok((Self { _job: job }, child))
    }

    /// Describes how a process ended; `None` while it runs.
    pub(crate) fn end_of(child: &mut Child) -> Option<String> {
        let status = child.try_wait().ok().flatten()?;
        Some(
            status
                .code()
                .map_or_else(|| status.to_string(), |code| format!("exit code {code}")),
        )
    }
}
