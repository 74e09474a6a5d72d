//! When a worker may use its machine.

use std::iter;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::{Local, Timelike};
use clap::Args;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::system;

/// Time between two looks at the machine.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Share of the cores that other programs keep busy on a machine in use.
const BUSY_SHARE: f32 = 0.25;
/// Most parents of a process that are followed: Windows gives their numbers to other processes.
const MAX_PARENTS: usize = 32;

/// Settings of a worker on a machine that other programs use.
#[derive(Args, Clone, Debug)]
pub struct PolitenessArgs {
    /// Lets every other program of this machine go first
    #[arg(long, help_heading = "Politeness")]
    nice: bool,
    /// Works only while other programs keep less than a quarter of the cores busy
    #[arg(long, help_heading = "Politeness")]
    idle_only: bool,
    /// Works only in these hours of the local time, as in 22-7
    #[arg(long, value_name = "FROM-TO", help_heading = "Politeness")]
    hours: Option<Hours>,
    /// Pauses while the machine runs on battery
    #[arg(long, help_heading = "Politeness")]
    not_on_battery: bool,
}

/// Hours of a day, from one to before the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hours {
    from: u32,
    to: u32,
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hour = |text: &str| text.parse().ok().filter(|hour| *hour <= 24);
        let hours = text.split_once('-');
        let hours = hours.and_then(|(from, to)| Some((hour(from)?, hour(to)?)));
        let hours = hours.filter(|(from, to)| from != to);
        let (from, to) = hours.ok_or("must be two different hours from 0 to 24, as in 22-7")?;
        Ok(Self { from, to })
    }
}

impl Hours {
    const fn contain(self, hour: u32) -> bool {
        if self.from <= self.to {
            self.from <= hour && hour < self.to
        } else {
            self.from <= hour || hour < self.to
        }
    }
}

/// The watch over a machine that other programs use.
#[derive(Debug)]
pub struct Politeness {
    settings: PolitenessArgs,
    /// The processes at the last look.
    system: System,
}

impl PolitenessArgs {
    /// Begins to watch. Call it before other threads start, which take over the priority.
    ///
    /// # Errors
    /// If the system refuses the lower priority.
    pub fn start(self) -> Result<Politeness> {
        if self.nice {
            system::yield_to_others().context("--nice: cannot lower the priority")?;
        }
        let mut politeness = Politeness {
            settings: self,
            system: System::new(),
        };
        // Looks tell what happened between two of them.
        politeness.load_of_others();
        Ok(politeness)
    }
}

impl Politeness {
    /// Waits until the worker may work, or must not, and says why it must not.
    pub async fn wait(&mut self, for_work: bool) -> String {
        let mut last = String::new();
        if self.settings.idle_only {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        loop {
            match (self.obstacle(), for_work) {
                (ControlFlow::Continue(()), true) => return last,
                (ControlFlow::Break(why), false) => return why,
                (ControlFlow::Break(why), true) => {
                    if why != last {
                        tracing::info!("waiting: {why}");
                    }
                    last = why;
                }
                (ControlFlow::Continue(()), false) => {}
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Returns why the worker must not work now, if it must not.
    fn obstacle(&mut self) -> ControlFlow<String> {
        let settings = &self.settings;
        // Asked anew each time, since the time zone and its summer time change.
        let is_outside = |hours: &Hours| !hours.contain(Local::now().hour());
        if let Some(Hours { from, to }) = settings.hours.filter(is_outside) {
            return ControlFlow::Break(format!("it is not between {from} and {to} o'clock"));
        }
        if settings.not_on_battery && system::is_on_battery() {
            return ControlFlow::Break("the machine runs on battery".into());
        }
        if let Some(load) = self.load_of_others() {
            return ControlFlow::Break(format!("other programs keep {load:.1} cores busy"));
        }
        ControlFlow::Continue(())
    }

    /// Returns how many cores other programs kept busy since the last look, if they are many and
    /// matter. An engine of this worker is no other program.
    fn load_of_others(&mut self) -> Option<f32> {
        let own = sysinfo::get_current_pid()
            .ok()
            .filter(|_| self.settings.idle_only)?;
        self.system.refresh_cpu_usage();
        let kind = ProcessRefreshKind::nothing().with_cpu().without_tasks();
        let all = ProcessesToUpdate::All;
        self.system.refresh_processes_specifics(all, true, kind);
        let processes = self.system.processes();
        let parent = |pid: &Pid| processes.get(pid)?.parent();
        let is_own = |pid: &Pid| {
            let mut line = iter::successors(Some(*pid), parent).take(MAX_PARENTS);
            line.any(|pid| pid == own)
        };
        let ours = processes.iter().filter(|(pid, _)| is_own(pid));
        let ours: f32 = ours.map(|(_, process)| process.cpu_usage()).sum();
        let cores = self.system.cpus().len() as f32;
        let others = self.system.global_cpu_usage() / 100.0 * cores - ours / 100.0;
        (others >= BUSY_SHARE * cores).then_some(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_pass_midnight() {
        let kinds = ["22-7", "9-17", "0-24"].map(|text| text.parse::<Hours>().expect("hours"));
        let within = |hour| kinds.map(|hours| hours.contain(hour));
        assert_eq!(within(7), [false, false, true]);
        assert_eq!(within(16), [false, true, true]);
        assert_eq!([within(0), within(23)], [[true, false, true]; 2]);
        for wrong in ["22", "22-", "25-3", "a-b", "5-5"] {
            assert!(wrong.parse::<Hours>().is_err(), "{wrong}");
        }
    }
}
