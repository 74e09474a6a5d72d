//! The program `kagetsu-worker`.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use kagetsu_program::{Exit, LogArgs};
use kagetsu_proto::{Access, stop_requested};
use kagetsu_worker::{Config, GOODBYE_TIMEOUT, Politeness, PolitenessArgs, UpdateArgs, Updater};
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
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    politeness: PolitenessArgs,
    #[command(flatten)]
    update: UpdateArgs,
}

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu-worker", || {
        let arguments: Arguments = kagetsu_program::parse()?;
        arguments.log.start("info")?;
        let updater = arguments.update.updater()?;
        let mut is_newer = has_installed(updater.as_ref());
        if !is_newer {
            let politeness = arguments.politeness.clone().start()?;
            is_newer = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(work(arguments, politeness, updater.clone()))?;
        }
        match updater.filter(|_| is_newer) {
            Some(updater) => updater.restart().map(|()| Exit::Done),
            None => Ok(Exit::Done),
        }
    })
}

/// Installs a newer program, if there is one. The worker goes on as it is if this fails.
fn has_installed(updater: Option<&Updater>) -> bool {
    let installed = updater.map_or(Ok(false), Updater::install);
    installed.unwrap_or_else(|error| {
        tracing::warn!("no update: {error:#}");
        false
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

/// Works until the end. Returns whether a newer program is to go on.
async fn work(
    arguments: Arguments,
    mut politeness: Politeness,
    updater: Option<Updater>,
) -> Result<bool> {
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
    let finish = arguments.config.finish.clone();
    if let Some(updater) = updater.clone() {
        let (finish, interval) = (finish.clone(), arguments.update.update_every);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                let updater = updater.clone();
                let install = move || has_installed(Some(&updater));
                if tokio::task::spawn_blocking(install).await.unwrap_or(false) {
                    return finish.cancel();
                }
            }
        });
    }
    loop {
        tokio::select! {
            _ = politeness.wait(true) => {}
            () = shutdown.cancelled() => return Ok(false),
        }
        let stop = shutdown.child_token();
        let work = kagetsu_worker::run(arguments.config.clone(), connector.clone(), stop.clone());
        tokio::pin!(work);
        let worked = tokio::select! {
            worked = &mut work => worked,
            why = politeness.wait(false) => {
                tracing::info!("pausing: {why}");
                stop.cancel();
                work.await
            }
        };
        match worked {
            // The coordinator may want a newer program.
            Err(_) if has_installed(updater.as_ref()) => return Ok(true),
            Err(error) => return Err(error),
            Ok(()) if shutdown.is_cancelled() => return Ok(false),
            Ok(()) if finish.is_cancelled() => return Ok(true),
            Ok(()) if stop.is_cancelled() => {}
            Ok(()) => return Ok(false),
        }
    }
}
