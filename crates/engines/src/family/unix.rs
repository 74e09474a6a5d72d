use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::descendants::Descendants;

/// A running engine. It, its process group and its other descendants are killed on drop, which has
/// to come before the child is reaped: until then the process number belongs to it.
pub(crate) struct GroupFamily {
    group: Pid,
    descendants: Descendants,
}

impl GroupFamily {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<(Self, Child)> {
        let descendants = Descendants::new();
        command
            .process_group(0)
            .env(Descendants::VARIABLE, descendants.mark());
        kill_with_parent(command);
        let child = command.spawn()?;
        let group = pid(&child);
        Ok((Self { group, descendants }, child))
    }

    /// Describes how a process ended, without reaping it; `None` while it runs.
    pub(crate) fn end_of(child: &mut Child) -> Option<String> {
        let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let child = rustix::process::Pid::from_child(child);
        let status = waitid(WaitId::Pid(child), flags).ok()??;
        if let Some(code) = status.exit_status() {
            return Some(format!("exit code {code}"));
        }
        let signal = Signal::try_from(status.terminating_signal()?).ok()?;
        Some(format!("ended by {signal}"))
    }
}

impl Drop for GroupFamily {
    fn drop(&mut self) {
        let _ = killpg(self.group, Signal::SIGKILL);
        self.descendants.kill();
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

/// Makes the system kill the program when the thread that started it ends for any reason.
#[cfg(target_os = "linux")]
fn kill_with_parent(command: &mut Command) {
    let us = nix::unistd::getpid();
    let die = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // A parent that ended before the call would never be noticed.
        if nix::unistd::getppid() == us {
            Ok(())
        } else {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: between fork and exec only two system calls are made. Both are safe after a fork, and
    // nothing is allocated.
    #[expect(unsafe_code, reason = "there is no safe way to say this to the system")]
    unsafe {
        command.pre_exec(die);
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_with_parent(_: &mut Command) {}
