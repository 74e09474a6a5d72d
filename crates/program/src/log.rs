use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::COMMON_HEADING;

/// The beginnings of the targets of our own log lines.
const OURS: [&str; 3] = ["kagetsu", "book_tool", "pbrain_kagetsu"];

/// How log lines look on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The options of a program's log.
#[derive(clap::Args, Clone, Debug)]
pub struct LogArgs {
    /// Format of log lines on stderr
    #[arg(
        help_heading = COMMON_HEADING,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    log_format: LogFormat,
    /// Log level: off, error, warn, info, debug, trace; or by module as in kagetsu=debug,h2=warn
    /// [default: info in coordinators and workers, else warn]
    #[arg(help_heading = COMMON_HEADING, long, global = true, value_name = "LEVEL")]
    log_level: Option<String>,
}

impl LogArgs {
    /// Starts the log, at a level of the program's own where no flag names one.
    ///
    /// # Errors
    /// For text that is no level.
    pub fn start(&self, usual: &str) -> Result<()> {
        let level = self.log_level.as_deref().unwrap_or(usual);
        start_log(level, self.log_format)
    }
}

/// Sends log lines to stderr: those that `KAGETSU_LOG` asks for, else `level`: a level and above,
/// as in `info`, or levels for parts of the program, as in `kagetsu=debug,h2=warn`. A level alone
/// is for our own lines; libraries say no more than their warnings. Colours only on a terminal, and
/// not where `NO_COLOR` is set. A second call changes nothing.
///
/// # Errors
/// For text that is neither.
fn start_log(level: &str, format: LogFormat) -> Result<()> {
    let variable = std::env::var("KAGETSU_LOG")
        .ok()
        .filter(|text| !text.is_empty());
    let (place, text) = variable
        .as_deref()
        .map_or(("--log-level", level), |text| ("KAGETSU_LOG", text));
    let filter = filter(text).with_context(|| {
        format!(
            "{place}: '{text}' is no log level; want off, error, warn, info, debug or trace, or \
             several for parts of the program as in kagetsu=debug,h2=warn"
        )
    })?;
    let colours = std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(colours);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    // Only the first subscriber of a process can be set; tests that start several programs in one
    // process meet the second case.
    let _ = tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init();
    Ok(())
}

/// Returns the levels for the parts of the program, if `text` says them. The library takes any word
/// for the name of a part, and no word for a level.
fn filter(text: &str) -> Option<Targets> {
    let level = |text: &str| {
        text.parse::<LevelFilter>()
            .ok()
            .filter(|_| !text.is_empty())
    };
    if let Some(level) = level(text) {
        let others = Targets::new().with_default(level.min(LevelFilter::WARN));
        return Some(others.with_targets(OURS.map(|part| (part, level))));
    }
    let is_directive = |part: &str| part.contains('=') || level(part).is_some();
    text.split(',')
        .all(is_directive)
        .then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_for_our_own_lines() {
        for (text, wanted) in [
            (
                "debug",
                "warn,kagetsu=debug,book_tool=debug,pbrain_kagetsu=debug",
            ),
            (
                "INFO",
                "warn,kagetsu=info,book_tool=info,pbrain_kagetsu=info",
            ),
            (
                "error",
                "error,kagetsu=error,book_tool=error,pbrain_kagetsu=error",
            ),
            ("off", "off,kagetsu=off,book_tool=off,pbrain_kagetsu=off"),
            ("kagetsu=debug,h2=warn", "kagetsu=debug,h2=warn"),
            ("info,h2=debug", "info,h2=debug"),
        ] {
            assert_eq!(filter(text), wanted.parse().ok(), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_no_level_is_an_error() {
        for text in ["inof", "", "debug,inof", "kagetsu=inof", "debug info"] {
            let error = start_log(text, LogFormat::Text)
                .expect_err(text)
                .to_string();
            assert!(
                error.contains(&format!("'{text}'")) && error.contains("error, warn, info, debug"),
                "{error}"
            );
        }
    }
}
