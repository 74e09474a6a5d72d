//! The processes that an engine started.

use std::sync::atomic::{AtomicU64, Ordering};

/// The descendants of one engine, also those that have left its process group or session. They are
/// known by a variable of their environment, which a process inherits from its parent.
///
/// A process that clears its environment is not found. On systems other than Linux none is found,
/// and only the engine's process group ends with it.
pub(crate) struct Descendants {
    mark: String,
}

impl Descendants {
    /// The environment variable that holds the mark.
    pub(crate) const VARIABLE: &str = "_KAGETSU_ENGINE_PROCESS";

    /// Returns the descendants of an engine that is started with [`mark`](Self::mark).
    pub(crate) fn new() -> Self {
        static ENGINES: AtomicU64 = AtomicU64::new(0);
        let number = ENGINES.fetch_add(1, Ordering::Relaxed);
        Self {
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    /// Returns the value of the variable; no other engine that runs has it.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Kills all descendants.
    #[cfg(target_os = "linux")]
    pub(crate) fn kill(&self) {
        use nix::sys::signal::{Signal, kill};

        /// A process may start another while the list is read.
        const MAX_ROUNDS: u32 = 8;
        for _ in 0..MAX_ROUNDS {
            let found = self.find();
            if found.is_empty() {
                return;
            }
            for process in found {
                // It may have ended by itself.
                let _ = kill(process, Signal::SIGKILL);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn kill(&self) {}

    /// Returns the running descendants. The environments of other users' processes and of ended
    /// ones cannot be read.
    #[cfg(target_os = "linux")]
    fn find(&self) -> Vec<nix::unistd::Pid> {
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        let marked = format!("{}={}", Self::VARIABLE, self.mark);
        let is_marked = |process: &i32| {
            let environment = std::fs::read(format!("/proc/{process}/environ"));
            environment.is_ok_and(|environment| {
                let mut variables = environment.split(|byte| *byte == 0);
                variables.any(|variable| variable == marked.as_bytes())
            })
        };
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(is_marked)
            .map(nix::unistd::Pid::from_raw)
            .collect()
    }
}
