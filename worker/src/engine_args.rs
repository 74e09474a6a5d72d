use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kagetsu_engines::{EngineAddress, EngineSettings, OptionValue};
use kagetsu_program::take_file;
use kagetsu_search::give_end_tables;

/// Options of an external engine.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// External engine to search with, as gomocup:COMMAND, uci:COMMAND or ucci:COMMAND, for example
    /// uci:/usr/games/fairy-stockfish
    #[arg(long, value_name = "PROTOCOL:COMMAND")]
    pub engine: Option<EngineAddress>,
    /// Option of the external engine, as "Skill Level=20"; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "engine")]
    pub engine_option: Vec<OptionValue>,
    /// Time without progress after which the external engine is taken to hang [default: 60s]
    #[arg(long, value_name = "TIME", requires = "engine", value_parser = humantime::parse_duration)]
    pub engine_patience: Option<Duration>,
    /// End tables of surakarta, from `kagetsu tables`
    #[arg(long, value_name = "FILE",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    pub tables: Option<PathBuf>,
}

impl EngineArgs {
    /// Returns the settings of the external engine, if one is named.
    #[must_use]
    pub fn settings(&self, threads: u16, memory_mib: u64) -> Option<EngineSettings> {
        let address = self.engine.clone()?;
        let stall_timeout = self
            .engine_patience
            .unwrap_or(EngineSettings::DEFAULT_STALL_TIMEOUT);
        Some(EngineSettings {
            options: self.engine_option.clone(),
            threads,
            memory_mib,
            stall_timeout,
            ..EngineSettings::new(address)
        })
    }
}
