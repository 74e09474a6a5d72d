use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kagetsu_game::Variant;
use kagetsu_proto::check_name;
use kagetsu_search::ThreadSplit;
use tokio_util::sync::CancellationToken;

use crate::engine_args::EngineArgs;

/// Settings of a worker.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Positions searched at the same time; 0 means the number of cores divided by --threads
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1024))]
    pub slots: u32,
    /// Threads for each position; with 1, searches limited by depth or nodes are reproducible
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// How the threads share a position: `shared` (each searches all moves, with one table) or
    /// `seeded` (the root moves are divided, the best of a 2-ply search first)
    #[arg(long, default_value_t = ThreadSplit::Shared, value_name = "SPLIT")]
    pub split: ThreadSplit,
    /// Memory of all transposition tables together, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub table_mib: u64,
    /// Name in lists and logs; a quarantine is kept by name, so use the same name after a restart
    /// [default: the host name]
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "NAME"
    )]
    pub name: String,
    /// How long a search may continue after SIGTERM before it is handed back
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub grace: Duration,
    /// Folder that keeps results until the coordinator has them on disk; each worker needs its own
    /// [default: none, so a worker that is killed loses unacknowledged results]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// The external engine, if any
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Variant for the engine of --engine; may be repeated [default: those of xiangqi,
    /// freestyle-15, standard-15 and renju-15 that it plays]
    #[arg(long, value_name = "VARIANT", requires = "engine")]
    pub variant: Vec<Variant>,
    /// Cancelled when the worker is to end once its searches are finished
    #[arg(skip)]
    pub finish: CancellationToken,
    /// Whether the coordinator is in this process, so that its end needs no warning
    #[arg(skip)]
    pub is_embedded: bool,
}

impl Config {
    /// Returns the settings of a worker inside a coordinator's process.
    #[must_use]
    pub fn embedded(name: String, table_mib: u64) -> Self {
        Self {
            slots: 1,
            threads: 1,
            split: ThreadSplit::Shared,
            table_mib,
            name,
            grace: Duration::ZERO,
            spool: None,
            engine: EngineArgs::default(),
            variant: Vec::new(),
            finish: CancellationToken::new(),
            is_embedded: true,
        }
    }

    /// Returns the number of positions searched at the same time.
    #[must_use]
    pub fn slots(&self) -> u32 {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        if self.slots == 0 {
            (cores / u32::from(self.threads)).max(1)
        } else {
            self.slots
        }
    }

    /// Returns the worker's name. It has no process id, because a quarantine is kept by name and
    /// outlives the process.
    #[must_use]
    pub fn name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let host = gethostname::gethostname().into_string().ok();
        host.filter(|host| !host.is_empty() && check_name("the host name", host).is_ok())
            .unwrap_or_else(|| "worker".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_name_is_the_host_name() {
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
