use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use kagetsu_book::without_password;
use kagetsu_coordinator::{Archive, Config, Protection, Server, stop_on_signals};
use kagetsu_postgres::BookUrl;
use kagetsu_program::{Exit, take_file};
use kagetsu_reader::Source;
use kagetsu_search::give_end_tables;
use tokio_util::sync::CancellationToken;

use crate::arguments::path::check_is_there;
use crate::client::embedded::Embedded;
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
/// --analyse puts an engine inside, as `kagetsu open` has, for all clients on this machine, or for
/// the tokens with the role analyse. Its answers are not kept.
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
    /// Analyses positions on the page and in the JSON API, with an engine for each core
    #[arg(long)]
    analyse: bool,
    /// End tables of surakarta for this engine, from `kagetsu tables`
    #[arg(long, value_name = "FILE", requires = "analyse",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    tables: Option<PathBuf>,
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
    let source = kagetsu_reader::open_files(&args.book)?;
    if let Some(folder) = args.archive.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("--archive {} is not a folder", folder.display());
    }
    runtime()?.block_on(serve(args, source, out))?;
    Ok(Exit::Done)
}

async fn serve(args: &Args, source: Source, out: &mut dyn Write) -> Result<()> {
    let protected = args.protection.read()?;
    protected.reload_on_hangup()?;
    let (grpc, http) = (
        protected.listen(args.listen).await?,
        protected.listen_http(args.http).await?,
    );
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let source = Arc::new(source);
    let server = |only_reads| -> Result<Server> {
        let config = Config {
            trusts_workers: true,
            ..Config::default()
        };
        let mut server = Server::start(&config, shutdown.clone())?;
        server.source = Some(Arc::clone(&source));
        server.only_reads = only_reads;
        server.archive = args.archive.clone().map(Archive::new);
        server.authenticator = Arc::clone(&protected.authenticator);
        Ok(server)
    };
    let reader = server(true)?;
    let analyst = args.analyse.then(|| server(false)).transpose()?;
    let mut access = protected.access(http.address(), &args.http_origin);
    access.may_change &= args.analyse;
    writeln!(
        out,
        "listening on {}\nhttp on {}",
        grpc.address(),
        http.address()
    )?;
    out.flush()?;
    let is_open = args.protection.public || !protected.knows_clients();
    if args.protection.public || !http.address().ip().is_loopback() {
        let readers = ["its known clients", "everybody who reaches it"][usize::from(is_open)];
        let analysts = match access.may_change {
            true => "clients with the role analyse have positions searched",
            false => "no client has positions searched",
        };
        let address = http.address();
        writeln!(
            std::io::stderr(),
            "the page at {address}: {readers} may read the whole book, {analysts}, no client \
             changes the book"
        )?;
    }
    let router = analyst.as_ref().unwrap_or(&reader).http(access);
    let pages = tokio::spawn(kagetsu_http::serve(http, router, shutdown.clone()));
    let mut engines = analyst.map(Embedded::on_all_cores);
    let failed = async {
        match &mut engines {
            Some(engines) => engines.failed().await.map(|never| match never {}),
            None => std::future::pending().await,
        }
    };
    let mut served = tokio::select! {
        served = reader.listen(grpc) => served,
        failed = failed => failed,
    };
    shutdown.cancel();
    if let Some(engines) = engines {
        served = engines.end(&shutdown, served).await;
    }
    pages.await?;
    served
}
