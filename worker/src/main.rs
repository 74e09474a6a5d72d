//! The program `kagetsu-worker`.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use kagetsu_program::{Exit, LogFormat, start_log};
use kagetsu_proto::{Access, stop_requested};
use kagetsu_worker::{Config, GOODBYE_TIMEOUT};
use mimalloc::MiMalloc;
use tokio_util::sync::CancellationToken;

/// Uses huge pages for large tables where Linux offers them, which makes a search a tenth faster.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Asks a coordinator for positions and searches them.
///
/// The worker retries without end while the coordinator is absent. It ends with code 2 if its
/// settings can never connect, as with a wrong authority. On Ctrl-C and SIGTERM it finishes running
/// searches within --grace, hands back the rest, and ends.
///
/// Every flag --some-name can also be given as the environment variable KAGETSU_SOME_NAME, or as
/// the key some-name of the TOML file of --config. A flag overrides the environment, and the
/// environment overrides the file.
///
/// Exit codes: 0 stopped cleanly; 2 an error.
#[derive(Debug, Parser)]
#[command(name = "kagetsu-worker", version, max_term_width = 100)]
#[command(after_help = "Example: kagetsu-worker --coordinator http://127.0.0.1:7615")]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// URL of the coordinator; several of one book with commas between them
    #[arg(long, default_value = "http://127.0.0.1:7615", value_name = "URL")]
    coordinator: String,
    /// Time after which the worker has ended, for clusters with a wall-clock limit; it takes no
    /// more tasks --grace and a few seconds earlier
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    max_runtime: Option<Duration>,
    /// Format of the log on stderr
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    /// Level of the log: off, error, warn, info, debug or trace; or levels by module, as in
    /// kagetsu=debug,h2=warn
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

/// Returns how long a worker may take tasks that must have ended after `limit`.
fn working_time(limit: Duration, grace: Duration) -> Result<Duration> {
    let end = grace.saturating_add(GOODBYE_TIMEOUT);
    let left = limit.checked_sub(end).filter(|left| !left.is_zero());
    left.with_context(|| {
        format!(
            "--max-runtime {} leaves no time to work, because stopping takes {}; give a longer time, or a --grace shorter \
             than {}",
            humantime::format_duration(limit),
            humantime::format_duration(end),
            humantime::format_duration(grace),
        )
    })
}

async fn work(arguments: Arguments) -> Result<()> {
    let connector = arguments.access.connector(&arguments.coordinator)?;
    let limit = arguments
        .max_runtime
        .map(|limit| working_time(limit, arguments.config.grace))
        .transpose()?;
    let shutdown = CancellationToken::new();
    let requested = stop_requested()?;
    let stop = shutdown.clone();
    tokio::spawn(async move {
        let time_is_up = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = requested => {}
            () = time_is_up => {}
        }
        stop.cancel();
    });
    kagetsu_worker::run(arguments.config, connector, shutdown).await
}
