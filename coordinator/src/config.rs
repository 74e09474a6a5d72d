use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kagetsu_program::take_file;
use kagetsu_search::give_end_tables;

/// How a coordinator runs.
#[derive(Args, Clone, Debug, Default)]
pub struct Config {
    /// The book's folder, which is made if it is not there; or postgres://USER@HOST/DATABASE?book=NAME
    /// for a journal in PostgreSQL. Without a book only analyses are done
    #[arg(long, value_name = "DIR|URL")]
    pub book: Option<PathBuf>,
    /// Folder for what is computed from a journal in PostgreSQL; it may be lost
    #[arg(long, value_name = "DIR", help_heading = "Several coordinators")]
    pub cache: Option<PathBuf>,
    /// URL at which workers and clients reach this coordinator [default: the address of --listen]
    #[arg(long, value_name = "URL", help_heading = "Several coordinators")]
    pub advertise: Option<String>,
    /// Time after which another coordinator takes over from one that is silent
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = lease_time,
        help_heading = "Several coordinators")]
    pub lease: Duration,
    /// Memory for the book's store, in MiB; the process takes about two and a half times as much
    /// and 70 MiB more, however many positions the book has
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(8..=1 << 20))]
    pub cache_mib: u64,
    /// Time after SIGTERM in which workers may report their tasks; later they keep their results
    /// until the coordinator is started again
    #[arg(long, default_value = "3s", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub grace: Duration,
    /// Share of answers that a second worker repeats and that are compared
    #[arg(long, default_value_t = 2.0, value_name = "PERCENT", value_parser = percent)]
    pub verify_share: f64,
    /// Oldest version of workers that are taken, as in 0.2.0
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub min_worker_version: Option<String>,
    /// Place of newer workers, which the refusal of an older one names
    #[arg(long, value_name = "URL", requires = "min_worker_version")]
    pub worker_url: Option<String>,
    /// End tables of surakarta, from `kagetsu tables`; workers use no larger ones
    #[arg(long, value_name = "FILE",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    pub tables: Option<PathBuf>,
    /// Whether every worker is believed: those of this process are
    #[arg(skip)]
    pub trusts_workers: bool,
    /// Time that a client may take to read a large response; 60 s if `None`
    #[arg(skip)]
    pub read_timeout: Option<Duration>,
    /// Time in which a running task must visit another position; 60 s if `None`
    #[arg(skip)]
    pub stall_timeout: Option<Duration>,
}

/// Bounds of the lease of a book in seconds.
const LEASE_SECONDS: std::ops::RangeInclusive<u64> = 1..=3600;

fn lease_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if LEASE_SECONDS.contains(&time.as_secs()) {
        Ok(time)
    } else {
        Err(format!("'{text}' is not a time from 1s to 1h"))
    }
}

fn version(text: &str) -> Result<String, String> {
    let numbers = kagetsu_proto::version_numbers(text);
    numbers
        .map(|_| text.into())
        .ok_or("must be a version as in 0.2.0".into())
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text
        .trim_end_matches('%')
        .parse()
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| format!("'{text}' is no percentage from 0 to 100"))
}
