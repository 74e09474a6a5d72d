use std::time::Duration;

use clap::Args;
use kagetsu_engines::{EngineAddress, EngineSettings, OptionValue};

/// Somebody else's engine in place of our own.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// Searches with somebody else's engine: gomocup:COMMAND, uci:COMMAND or ucci:COMMAND, as in
    /// uci:/usr/games/fairy-stockfish
    #[arg(long, value_name = "PROTOCOL:COMMAND")]
    pub engine: Option<EngineAddress>,
    /// Sets an option of that engine, as in "Skill Level=20"; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", requires = "engine")]
    pub engine_option: Vec<OptionValue>,
    /// How long that engine may go without getting on before it is taken to hang [default: 60s]
    #[arg(long, value_name = "TIME", requires = "engine", value_parser = humantime::parse_duration)]
    pub engine_patience: Option<Duration>,
}

impl EngineArgs {
    /// How the engine is made, where one is named.
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
