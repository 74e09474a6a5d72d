use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// How log lines look on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Sends log lines to stderr: those that `KAGETSU_LOG` asks for (as in `info` or `kagetsu_worker=debug`), else those of
/// `level` and above. Colours only on a terminal, and not where `NO_COLOR` is set. A second call changes nothing.
pub fn start_log(level: &str, format: LogFormat) {
    let filter = EnvFilter::try_from_env("KAGETSU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    // Only the first subscriber of a process can be set; tests that start programs in one process meet the second case.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
