//! The program `kagetsu-worker`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use kagetsu_program::{Exit, LogFormat, start_log};
use kagetsu_proto::Access;
use kagetsu_worker::{Config, LAST_WORDS};
use mimalloc::MiMalloc;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Its large tables lie on large pages, where Linux gives them to who asks; a search is a tenth faster by it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Asks a coordinator for positions and searches them.
///
/// Connects again for ever when the coordinator is not there; ends with code 2 where it could never connect as it is set
/// up, as with a wrong authority or a token for plain text. On Ctrl-C and on SIGTERM it finishes what it searches
/// within --grace, hands back the rest, and ends.
///
/// Every flag --some-name can also be given as the environment variable KAGETSU_SOME_NAME, or as the key some-name of a
/// TOML file named by --config; a flag beats the environment, and the environment beats the file.
///
/// Exit codes: 0 stopped cleanly; 2 an error.
#[derive(Debug, Parser)]
#[command(name = "kagetsu-worker", version, max_term_width = 100)]
#[command(after_help = "Example: kagetsu-worker --coordinator http://127.0.0.1:7615")]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// The coordinator to work for
    #[arg(long, default_value = "http://127.0.0.1:7615", value_name = "URL")]
    coordinator: String,
    /// A file whose first line is the coordinator's URL, instead of --coordinator; it is read for every connection, so that
    /// the coordinator may come up later, or elsewhere
    #[arg(long, value_name = "FILE")]
    coordinator_file: Option<PathBuf>,
    /// Ends by itself within this time, for clusters with a wall-clock limit: it begins nothing more when only --grace is
    /// left, and a little time to say so
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    max_runtime: Option<Duration>,
    /// How log lines look on stderr
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    /// The least important log lines to show: off, error, warn, info, debug, trace; or as in kagetsu=debug,h2=warn
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    log_level: String,
    #[command(flatten)]
    access: Access,
}

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu-worker", || {
        let arguments: Arguments = kagetsu_program::parse()?;
        start_log(&arguments.log_level, arguments.log_format)?;
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(work(arguments))?;
        Ok(Exit::Done)
    })
}

/// How long a worker may begin tasks that is to have ended after `limit`.
fn working_time(limit: Duration, grace: Duration) -> Result<Duration> {
    let end = grace.saturating_add(LAST_WORDS);
    let left = limit.checked_sub(end).filter(|left| !left.is_zero());
    left.with_context(|| {
        format!(
            "--max-runtime {} leaves no time to work before the {} that its end takes; give it more, or a --grace shorter \
             than {}",
            humantime::format_duration(limit),
            humantime::format_duration(end),
            humantime::format_duration(grace),
        )
    })
}

async fn work(arguments: Arguments) -> Result<()> {
    let connector = match &arguments.coordinator_file {
        Some(file) => arguments.access.connector_by_file(file)?,
        None => arguments.access.connector(&arguments.coordinator)?,
    };
    let limit = arguments
        .max_runtime
        .map(|limit| working_time(limit, arguments.config.grace))
        .transpose()?;
    let shutdown = CancellationToken::new();
    let (mut term, mut int) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let stop = shutdown.clone();
    tokio::spawn(async move {
        let time_is_up = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            () = time_is_up => {}
        }
        stop.cancel();
    });
    kagetsu_worker::run(arguments.config, connector, shutdown).await
}
