//! The program `kagetsu-coordinator`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use kagetsu_coordinator::{Config, Server};
use kagetsu_program::{Exit, LogFormat, start_log};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Divides positions among workers and keeps the book.
///
/// Prints "listening on ADDRESS" when it is ready. Build jobs that were running when it stopped go on by themselves.
/// Ends cleanly on Ctrl-C and on SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "kagetsu-coordinator", version, max_term_width = 100)]
#[command(after_help = "Example: kagetsu-coordinator --book h8.book")]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// Where to listen; port 0 lets the system choose
    #[arg(long, default_value = "127.0.0.1:7615", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Listens beyond this machine although anybody who reaches the address may use it
    #[arg(long)]
    insecure: bool,
    /// Writes the address to this file as well, when it is ready
    #[arg(long, value_name = "FILE")]
    address_file: Option<PathBuf>,
    /// How log lines look on stderr
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    /// The least important log lines to show: error, warn, info, debug, trace
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    log_level: String,
}

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu-coordinator", || {
        let arguments: Arguments = kagetsu_program::parse()?;
        start_log(&arguments.log_level, arguments.log_format);
        tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(arguments))?;
        Ok(Exit::Done)
    })
}

async fn serve(arguments: Arguments) -> Result<()> {
    let listen = arguments.listen;
    if !listen.ip().is_loopback() && !arguments.insecure {
        bail!("{listen} can be reached from other machines; give --insecure if everybody who can may use the cluster");
    }
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr()?;
    let server = Server::start(&arguments.config, shutdown)?;
    if let Some(file) = &arguments.address_file {
        write_address(file, address).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let mut out = std::io::stdout();
    writeln!(out, "listening on {address}").and_then(|()| out.flush())?;
    server.listen(listener).await
}

/// Whole or not at all: who waits for the file finds an address in it.
fn write_address(file: &std::path::Path, address: SocketAddr) -> std::io::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{address}\n"))?;
    std::fs::rename(new, file)
}

fn stop_on_signals(shutdown: CancellationToken) -> Result<()> {
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        shutdown.cancel();
    });
    Ok(())
}
