use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kagetsu_game::Variant;
use kagetsu_proto::check_name;
use kagetsu_search::Split;

use crate::engine_args::EngineArgs;

/// How a worker works.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Positions searched at the same time; 0: one for each core, shared by --threads
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1024))]
    pub slots: u32,
    /// Threads for each position; 1 gives the same answers every time where depth or nodes limit the search
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// How these threads share a position: `shared` (each searches all of it, with one table) or `seeded` (the root moves
    /// are divided, the best of a 2-ply search first)
    #[arg(long, default_value_t = Split::Shared, value_name = "SPLIT")]
    pub split: Split,
    /// Memory for all transposition tables together, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub table_mib: u64,
    /// Its name in lists and logs, by which a quarantine goes: it should be the same after a restart [default: the machine's]
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "NAME"
    )]
    pub name: String,
    /// How long a search may go on after SIGTERM before it is handed back
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub grace: Duration,
    /// A folder of its own where results lie until the coordinator has them on disk, so that none is lost with the worker
    /// [default: none; then a worker that is killed loses what was not acknowledged]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Whose engine searches
    #[command(flatten)]
    pub engine: EngineArgs,
    /// What the engine of --engine is to play; may be given more than once [default: those of xiangqi, freestyle-15,
    /// standard-15 and renju-15 that it knows]
    #[arg(long, value_name = "VARIANT", requires = "engine")]
    pub variant: Vec<Variant>,
    /// Whether the coordinator is in this process: then its end is told by others, and is no news
    #[arg(skip)]
    pub is_embedded: bool,
}

impl Config {
    /// A worker inside this process.
    #[must_use]
    pub fn embedded(name: String, table_mib: u64) -> Self {
        Self {
            slots: 1,
            threads: 1,
            split: Split::Shared,
            table_mib,
            name,
            grace: Duration::ZERO,
            spool: None,
            engine: EngineArgs::default(),
            variant: Vec::new(),
            is_embedded: true,
        }
    }

    /// Positions searched at the same time.
    #[must_use]
    pub fn slots(&self) -> u32 {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        if self.slots == 0 {
            (cores / u32::from(self.threads)).max(1)
        } else {
            self.slots
        }
    }

    /// Its name. The process id is no part of it: a quarantine goes by name, and is to outlive the process.
    #[must_use]
    pub fn name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let host = gethostname::gethostname().into_string().ok();
        host.filter(|host| !host.is_empty() && check_name("the machine's name", host).is_ok())
            .unwrap_or_else(|| "worker".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_a_name_has_its_machines() {
        let config = Config::embedded("given".into(), 1);
        assert_eq!(config.name(), "given");
        let named = Config {
            name: String::new(),
            ..config
        }
        .name();
        let host = gethostname::gethostname().into_string().unwrap_or_default();
        assert_eq!(named, if host.is_empty() { "worker" } else { &host });
    }
}
