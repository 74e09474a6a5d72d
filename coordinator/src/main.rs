//! The program `kagetsu-coordinator`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use kagetsu_book::{BookError, JournalError};
use kagetsu_coordinator::{Config, Protected, Protection, Server, stop_on_signals};
use kagetsu_program::{Exit, LogArgs, Readers, check_place, write_whole};
use kagetsu_proto::Listener;
use mimalloc::MiMalloc;
use tokio_util::sync::CancellationToken;

/// A coordinator with much to do spends a fourth of its time on memory with the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Divides positions among workers and keeps the book.
///
/// Prints "listening on ADDRESS" when it is ready, and then "http on ADDRESS" for the explorer page
/// and the JSON API. Build jobs that ran when it stopped go on by themselves. It ends cleanly on
/// Ctrl-C and SIGTERM; on SIGHUP it reads changed certificates and tokens at once.
///
/// Every flag --some-name can also be given as the environment variable KAGETSU_SOME_NAME, or as
/// the key some-name of a TOML file named by --config. A flag overrides the environment, and the
/// environment overrides the file.
///
/// Exit codes: 0 stopped cleanly; 2 an error.
#[derive(Debug, Parser)]
#[command(name = "kagetsu-coordinator", version, max_term_width = 100)]
#[command(after_help = "Example: kagetsu-coordinator --book h8.book")]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// Address for workers and clients; with port 0 the system chooses the port
    #[arg(long, default_value = "127.0.0.1:7615", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Address of the explorer page and the JSON API; `off` serves neither [default:
    /// 127.0.0.1:7616, if that is free]
    #[arg(long, value_name = "ADDRESS|off", value_parser = http_address)]
    http: Option<HttpAddress>,
    /// Lets pages of this origin, as in https://example.org, read the JSON API; repeat the flag for
    /// several
    #[arg(long, value_name = "ORIGIN")]
    http_origin: Vec<String>,
    /// Address of metrics and probes alone: /metrics, /healthz, /readyz; --http has them too
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Writes the address to this file as well, when it is ready
    #[arg(long, value_name = "FILE")]
    address_file: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    protection: Protection,
}

/// Where HTTP is served, if anywhere.
#[derive(Clone, Copy, Debug)]
enum HttpAddress {
    At(SocketAddr),
    Off,
}

fn http_address(text: &str) -> Result<HttpAddress, String> {
    if text == "off" {
        return Ok(HttpAddress::Off);
    }
    text.parse()
        .map(HttpAddress::At)
        .map_err(|_| "must be an address as in 127.0.0.1:7616, or off".into())
}

/// The default address of HTTP.
const HTTP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7616);

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu-coordinator", || {
        let arguments: Arguments = kagetsu_program::parse()?;
        arguments.log.start("info")?;
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(run(arguments))?;
        Ok(Exit::Done)
    })
}

/// Time between two attempts to open a book again whose database is away.
const REOPEN_INTERVAL: Duration = Duration::from_secs(5);

/// Serves until a signal. A coordinator that has lost the lead restarts as a follower.
async fn run(mut arguments: Arguments) -> Result<()> {
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let mut has_served = false;
    loop {
        let served = serve(&mut arguments, shutdown.child_token(), &mut has_served).await;
        match served {
            Err(error) => match journal_error(&error) {
                // The new leader has every acknowledged answer, so there is nothing left to save.
                Some(JournalError::NotLeader { .. }) if shutdown.is_cancelled() => return Ok(()),
                _ if shutdown.is_cancelled() => return Err(error),
                Some(JournalError::NotLeader { .. } | JournalError::OtherHistory(_)) => {
                    tracing::warn!("{error:#}; this coordinator follows now");
                }
                // A coordinator that has served waits for its database; a new one says what is
                // wrong.
                Some(JournalError::Server(_)) if has_served => {
                    tracing::error!("{error:#}; trying again");
                    tokio::select! {
                        () = tokio::time::sleep(REOPEN_INTERVAL) => {}
                        () = shutdown.cancelled() => return Ok(()),
                    }
                }
                _ => return Err(error),
            },
            Ok(()) => return Ok(()),
        }
    }
}

/// Returns the error of a journal by which a coordinator ended, if that was the reason.
fn journal_error(error: &anyhow::Error) -> Option<&JournalError> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(BookError::Journal(error)) => Some(error),
        _ => cause.downcast_ref(),
    })
}

/// Serves until the shutdown, or until the book can no longer be written. Sets `has_served` once
/// clients can connect.
async fn serve(
    arguments: &mut Arguments,
    shutdown: CancellationToken,
    has_served: &mut bool,
) -> Result<()> {
    let protected = arguments.protection.read()?;
    if let Some(file) = &arguments.address_file {
        // Fails before a book is made, unless the file is to lie in the book's new folder.
        let whole = |path: &Path| std::path::absolute(path).ok();
        let folder = file
            .parent()
            .filter(|folder| !folder.exists())
            .and_then(whole);
        if folder.is_none() || folder != arguments.config.book.as_deref().and_then(whole) {
            check_place(file).with_context(|| cannot_write(file))?;
        }
    }
    protected.reload_on_hangup()?;
    let listener = protected.listen(arguments.listen).await?;
    let address = listener.address();
    // A restart keeps the address, so clients find the coordinator again.
    arguments.listen = address;
    if arguments.config.advertise.is_none() {
        arguments.config.advertise = Some(url_of(address, protected.has_tls()));
    }
    let http = listen_http(&protected, arguments.http).await?;
    let metrics = match arguments.metrics {
        Some(address) => Some(protected.listen_http(address).await?),
        None => None,
    };
    let mut server = Server::start(&arguments.config, shutdown.clone())?;
    server.authenticator = Arc::clone(&protected.authenticator);
    if let Some(file) = &arguments.address_file {
        write_whole(file, &format!("{address}\n"), Readers::Usual)
            .with_context(|| cannot_write(file))?;
    }
    let mut out = std::io::stdout();
    writeln!(out, "listening on {address}").and_then(|()| out.flush())?;
    *has_served = true;
    let http = http.map(|listener| {
        let access = protected.access(listener.address(), &arguments.http_origin);
        serve_http("http", listener, server.http(access), &shutdown)
    });
    let metrics =
        metrics.map(|listener| serve_http("metrics", listener, server.monitor(), &shutdown));
    let (http, metrics) = (http.transpose()?, metrics.transpose()?);
    let served = server.listen(listener).await;
    shutdown.cancel();
    for task in [http, metrics].into_iter().flatten() {
        task.await?;
    }
    served
}

/// Opens the socket for HTTP. It is no error if the default one is taken and no flag names it.
async fn listen_http(
    protected: &Protected,
    given: Option<HttpAddress>,
) -> Result<Option<Listener>> {
    match given {
        Some(HttpAddress::Off) => Ok(None),
        Some(HttpAddress::At(address)) => protected.listen_http(address).await.map(Some),
        None => Ok(protected
            .listen_http(HTTP)
            .await
            .map_err(|error| tracing::warn!("no HTTP: {error}; --http says where else"))
            .ok()),
    }
}

/// Serves HTTP beside gRPC. Prints "NAME on ADDRESS" when it is ready.
fn serve_http(
    name: &str,
    listener: Listener,
    router: axum::Router,
    shutdown: &CancellationToken,
) -> Result<tokio::task::JoinHandle<()>> {
    let mut out = std::io::stdout();
    writeln!(out, "{name} on {}", listener.address()).and_then(|()| out.flush())?;
    let serving = kagetsu_http::serve(listener, router, shutdown.clone());
    Ok(tokio::spawn(serving))
}

/// Returns the URL of a gRPC address.
fn url_of(address: SocketAddr, has_tls: bool) -> String {
    let scheme = if has_tls { "https" } else { "http" };
    format!("{scheme}://{address}")
}

fn cannot_write(file: &Path) -> String {
    format!("cannot write --address-file {}", file.display())
}
