use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use kagetsu_book::without_password;
use kagetsu_coordinator::{Protection, Reader};
use kagetsu_http::AccessPolicy;
use kagetsu_postgres::BookUrl;
use kagetsu_program::Exit;
use kagetsu_reader::Source;
use tokio_util::sync::CancellationToken;

use crate::arguments::path::check_is_there;
use kagetsu_terminal::runtime::runtime;

/// Serves a book to clients, read-only
///
/// It serves gRPC for programs (`query`, `pick`, `tree` and `brain` accept the URL in place of a
/// book), and HTTP with the explorer page and the JSON API. It prints "listening on ADDRESS" and
/// "http on ADDRESS" when it is ready, and stops on Ctrl-C or SIGTERM.
///
/// --archive offers compiled books, deltas and signatures for download at /api/v1/archive, with
/// ranges, so that an interrupted download can go on.
///
/// Example: kagetsu serve --book h8.kbk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder, a compiled book, or a certificate (which `kagetsu verify` checks)
    #[arg(long, value_name = "BOOK")]
    book: PathBuf,
    /// Address for gRPC; port 0 lets the system choose
    #[arg(long, default_value = "127.0.0.1:7615", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Address for the explorer page and the JSON API
    #[arg(long, default_value = "127.0.0.1:7616", value_name = "ADDRESS")]
    http: SocketAddr,
    /// Allows pages of this origin, such as https://example.org, to read the JSON API; repeat the
    /// flag for several
    #[arg(long, value_name = "ORIGIN")]
    http_origin: Vec<String>,
    /// A folder whose *.kbk, *.delta and *.minisig files are offered for download
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    #[command(flatten)]
    protection: Protection,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    check_is_there(&args.book)?;
    let name = args.book.to_string_lossy();
    ensure!(
        !BookUrl::is_one(&name),
        "{} is a book in a database, whose coordinator serves it; \
         `kagetsu journal pull` copies it into a folder",
        without_password(&name)
    );
    let shelf = kagetsu_reader::open_files(&args.book)?;
    if let Some(folder) = args.archive.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("--archive {} is not a folder", folder.display());
    }
    runtime()?.block_on(serve(args, shelf, out))?;
    Ok(Exit::Done)
}

async fn serve(args: &Args, shelf: Source, out: &mut dyn Write) -> Result<()> {
    let protected = args.protection.read()?;
    protected.reload_on_hangup()?;
    let (grpc, http) = (
        protected.listen(args.listen).await?,
        protected.listen_http(args.http).await?,
    );
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let reader = Reader::new(
        shelf,
        Arc::clone(&protected.authenticator),
        shutdown.clone(),
    );
    let reader = match &args.archive {
        Some(folder) => reader.with_archive(folder.clone()),
        None => reader,
    };
    let access = AccessPolicy {
        may_change: false,
        origins: args.http_origin.clone(),
        ..AccessPolicy::at(http.address())
    };
    writeln!(
        out,
        "listening on {}\nhttp on {}",
        grpc.address(),
        http.address()
    )?;
    out.flush()?;
    let pages = tokio::spawn(kagetsu_http::serve(
        http,
        reader.http(access),
        shutdown.clone(),
    ));
    let served = reader.listen(grpc).await;
    shutdown.cancel();
    pages.await?;
    served
}

fn stop_on_signals(shutdown: CancellationToken) -> Result<()> {
    let stop = kagetsu_proto::stop_requested()?;
    tokio::spawn(async move {
        stop.await;
        shutdown.cancel();
    });
    Ok(())
}
