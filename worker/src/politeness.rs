//! When a worker may use its machine.

use std::ops::ControlFlow;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use time::{OffsetDateTime, UtcOffset};

/// Time between two looks at the machine.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Load of other programs for each core at which a machine is in use.
const BUSY_LOAD: f64 = 0.25;

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
    from: u8,
    to: u8,
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hour = |text: &str| text.parse().ok().filter(|hour| *hour <= 24_u8);
        let hours = text.split_once('-');
        let hours = hours.and_then(|(from, to)| Some((hour(from)?, hour(to)?)));
        let hours = hours.filter(|(from, to)| from != to);
        let (from, to) = hours.ok_or("must be two different hours from 0 to 24, as in 22-7")?;
        Ok(Self { from, to })
    }
}

impl Hours {
    const fn contain(self, hour: u8) -> bool {
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
    offset: UtcOffset,
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
            // Without a known time zone the hours are those of UTC.
            offset: UtcOffset::current_local_offset().unwrap_or(UtcOffset::UTC),
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
        if let Some(hours) = self.settings.hours {
            let hour = OffsetDateTime::now_utc().to_offset(self.offset).hour();
            if !hours.contain(hour) {
                let Hours { from, to } = hours;
                return ControlFlow::Break(format!("it is not between {from} and {to} o'clock"));
            }
        }
        if self.settings.not_on_battery && on_battery() {
            return ControlFlow::Break("the machine runs on battery".into());
        }
        if self.settings.idle_only {
            let own = if is_at_work { self.cores.into() } else { 0.0 };
            let cores =
                std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
            let load = load_of_minute().map_or(0.0, |load| load - own);
            if load >= BUSY_LOAD * cores {
                return ControlFlow::Break(format!("other programs keep {load:.1} cores busy"));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns how many programs ran or waited for a core in the last minute, where the system tells.
fn load_of_minute() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Whether a battery is discharged, where the system tells.
fn on_battery() -> bool {
    let Ok(supplies) = std::fs::read_dir("/sys/class/power_supply") else {
        return false;
    };
    let is_used = |folder: std::path::PathBuf| {
        let says = |file: &str, word: &str| {
            let text = std::fs::read_to_string(folder.join(file));
            text.is_ok_and(|text| text.trim() == word)
        };
        // A mouse has a battery of its own.
        says("status", "Discharging") && !says("scope", "Device")
    };
    supplies.flatten().any(|supply| is_used(supply.path()))
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
