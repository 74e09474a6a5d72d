//! When a worker may use its machine.

use std::ops::ControlFlow;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::{Local, Timelike};
use clap::Args;

/// Time between two looks at the machine.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Load of other programs for each core at which a machine is in use.
const BUSY_LOAD: f64 = 0.25;
/// The folder in which Linux tells of batteries.
const POWER_SUPPLIES: &str = "/sys/class/power_supply";

/// Settings of a worker on a machine that other programs use.
#[derive(Args, Clone, Debug)]
pub struct PolitenessArgs {
    /// Lets every other program of this machine go first
    #[arg(long, help_heading = "Politeness")]
    nice: bool,
    /// Works only while other programs keep less than a quarter of the cores busy (Linux)
    #[arg(long, help_heading = "Politeness")]
    idle_only: bool,
    /// Works only in these hours of the local time, as in 22-7
    #[arg(long, value_name = "FROM-TO", help_heading = "Politeness")]
    hours: Option<Hours>,
    /// Pauses while the machine runs on battery (Linux)
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
    /// Cores that the worker keeps busy.
    cores: u32,
}

impl PolitenessArgs {
    /// Begins to watch for a worker that keeps so many cores busy. Call it before other threads
    /// start, which take over the priority.
    ///
    /// # Errors
    /// If the system refuses the lower priority.
    pub fn start(self, cores: u32) -> Result<Politeness> {
        if self.nice {
            crate::system::yield_to_others().context("--nice: cannot lower the priority")?;
        }
        Ok(Politeness {
            settings: self,
            cores,
        })
    }
}

impl Politeness {
    /// Waits until the worker may work, or must not, and says why it must not.
    pub async fn wait(&self, for_work: bool) -> String {
        let mut last = String::new();
        loop {
            match (self.obstacle(!for_work), for_work) {
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
    fn obstacle(&self, is_at_work: bool) -> ControlFlow<String> {
        let settings = &self.settings;
        // Asked anew each time, since the time zone and its summer time change.
        let is_outside = |hours: &Hours| !hours.contain(Local::now().hour());
        if let Some(Hours { from, to }) = settings.hours.filter(is_outside) {
            return ControlFlow::Break(format!("it is not between {from} and {to} o'clock"));
        }
        if settings.not_on_battery && is_on_battery(Path::new(POWER_SUPPLIES)) {
            return ControlFlow::Break("the machine runs on battery".into());
        }
        if settings.idle_only {
            let own = if is_at_work { self.cores } else { 0 };
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            if let Some(load) = load_of_others(&text, own, cores) {
                return ControlFlow::Break(format!("other programs keep {load:.1} cores busy"));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns how many other programs ran or waited for a core in the last minute, if they are many
/// for so many cores.
fn load_of_others(load_averages: &str, own: u32, cores: usize) -> Option<f64> {
    let load: f64 = load_averages.split(' ').next()?.parse().ok()?;
    let load = load - f64::from(own);
    (load >= BUSY_LOAD * cores as f64).then_some(load)
}

/// Whether a battery is discharged, where the system tells.
fn is_on_battery(supplies: &Path) -> bool {
    let is_used = |folder: &Path| {
        let says = |file: &str, word: &str| {
            let text = std::fs::read_to_string(folder.join(file));
            text.is_ok_and(|text| text.trim() == word)
        };
        // A mouse has a battery of its own.
        says("status", "Discharging") && !says("scope", "Device")
    };
    let mut supplies = std::fs::read_dir(supplies).into_iter().flatten().flatten();
    supplies.any(|supply| is_used(&supply.path()))
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

    #[test]
    fn only_batteries_of_the_machine_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let supply = |name: &str, files: &[(&str, &str)]| {
            let supply = folder.path().join(name);
            std::fs::create_dir_all(&supply).expect("room");
            for (file, text) in files {
                std::fs::write(supply.join(file), format!("{text}\n")).expect("room");
            }
            is_on_battery(folder.path())
        };
        assert!(!is_on_battery(&folder.path().join("none")));
        assert!(!supply("AC", &[("type", "Mains"), ("online", "1")]));
        assert!(!supply(
            "mouse",
            &[("status", "Discharging"), ("scope", "Device")]
        ));
        assert!(supply("BAT0", &[("status", "Discharging")]));
        assert!(supply("BAT0", &[("scope", "System")]));
        assert!(!supply("BAT0", &[("status", "Charging")]));
    }

    #[test]
    fn own_searches_make_no_machine_busy() {
        let load = |text, own| load_of_others(text, own, 4);
        assert_eq!(load("0.99 0.10 0.05 1/200 3", 0), None);
        assert_eq!(load("1.00 0.10 0.05 1/200 3", 0), Some(1.0));
        assert_eq!(
            [load("4.50 4 4 5/200 3", 4), load("5.50 4 4 5/200 3", 4)],
            [None, Some(1.5)]
        );
        assert_eq!(load("", 0), None);
    }
}
