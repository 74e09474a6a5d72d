//! `kagetsu open`: a book or a file of games on the page, with an engine.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, ensure};
use clap::FromArgMatches;
use clap::builder::NonEmptyStringValueParser;
use kagetsu_coordinator::{Config, Server};
use kagetsu_files::{installed_book, read_file};
use kagetsu_formats::{Importer, likely_variant, openings};
use kagetsu_game::{Position, Variant};
use kagetsu_http::{AccessPolicy, site};
use kagetsu_postgres::BookUrl;
use kagetsu_program::{Exit, download, shown, take_file};
use kagetsu_proto::{Access, Listener, stop_requested};
use kagetsu_reader::{Source, fill};
use kagetsu_search::give_end_tables;
use kagetsu_terminal::runtime::runtime;
use tokio_util::sync::CancellationToken;

use crate::client::embedded::Embedded;
use crate::commands::exchange::import;
use crate::commands::exchange::site::SiteArgs;

/// The port of the page, where it is free.
const PORT: u16 = 7616;
/// Connections of browsers at a time.
const MAX_CONNECTIONS: usize = 256;

/// Opens a book or a file of games in the browser, with an engine
///
/// PLACE is a book's folder, a compiled book, a certificate, a site that `kagetsu export --format
/// site` wrote, the URL of a coordinator or a book server, or any file that `kagetsu import` reads.
/// Such a file is imported into a book beside it first: games.pgn into games.book. The URL of a
/// file, as in https://example.org/games.pgn, downloads it into this folder first. A file of
/// positions without moves opens at its first one, beside an empty book.
///
/// The page is on this machine alone. An engine in this process analyses, and a book's folder keeps
/// what it finds and grows from any position. Ctrl-C ends it; nothing is lost.
///
/// Example: kagetsu open games.pgn --variant xiangqi
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book, a certificate, a file of games, or a URL
    #[arg(value_name = "PLACE", value_parser = NonEmptyStringValueParser::new())]
    place: String,
    /// The game that a file of games does not say
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,
    /// Writes PLACE as a site of static files into this folder, and shows that as any web server
    /// would
    #[arg(long, value_name = "DIR")]
    site: Option<PathBuf>,
    /// Address of the page on this machine, or its port [default: 7616, or any free port]
    #[arg(long, alias = "port", value_name = "ADDRESS", value_parser = own_address)]
    http: Option<SocketAddr>,
    /// Prints the address and opens no browser
    #[arg(long)]
    no_browser: bool,
    /// End tables of surakarta for the engine, from `kagetsu tables`
    #[arg(long, value_name = "FILE",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    tables: Option<PathBuf>,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    match args.site()? {
        Some(folder) => runtime()?.block_on(show_site(args, &folder, out))?,
        None => runtime()?.block_on(show(args, args.find()?, out))?,
    }
    Ok(Exit::Done)
}

/// The book behind a place.
enum Opened {
    /// A folder, which grows, and where the page begins; empty: where the book begins.
    Folder(PathBuf, String),
    /// A book that is read.
    Source(Box<Source>),
}

impl Args {
    /// Returns the folder of a site to show, and writes it first where that is asked.
    fn site(&self) -> Result<Option<PathBuf>> {
        let place = Path::new(&self.place);
        if let Some(folder) = &self.site {
            SiteArgs::default().write(&[place], folder)?;
            return Ok(Some(folder.clone()));
        }
        Ok(place.join("site.json").is_file().then(|| place.into()))
    }

    /// Finds the book, and imports a file of games.
    fn find(&self) -> Result<Opened> {
        let downloaded = self.download()?;
        let place = downloaded.as_deref().unwrap_or(&self.place);
        let path = Path::new(place);
        let is_url = place.contains("://");
        ensure!(
            is_url || path.try_exists().unwrap_or(true) || installed_book(path).is_some(),
            "there is no {}; check the name, or make a book by `kagetsu build`",
            shown(path)
        );
        ensure!(
            !BookUrl::is_one(place),
            "a book in a database is shown by its coordinator; give the coordinator's URL"
        );
        if path.is_dir() {
            let is_empty = path.read_dir()?.next().is_none();
            ensure!(!is_empty, "there is no book in {}", shown(path));
            return Ok(Opened::Folder(path.into(), String::new()));
        }
        let is_ours = ["kbk", "proof"]
            .map(Some)
            .contains(&path.extension().and_then(OsStr::to_str));
        match kagetsu_reader::open(place, &self.access) {
            Ok(source) => Ok(Opened::Source(Box::new(source))),
            // Such a file is damaged, and no other program's.
            Err(error) if is_url || is_ours => Err(error),
            Err(_) => self.import(path),
        }
    }

    /// Downloads the file of a URL with a path into this folder, and returns its name. A server's
    /// URL has no path.
    fn download(&self) -> Result<Option<String>> {
        let url = &self.place;
        let Some((scheme, rest)) = url.split_once("://") else {
            return Ok(None);
        };
        let path = rest
            .split(['?', '#'])
            .next()
            .and_then(|all| all.split_once('/'));
        let name = match path {
            Some((_, path)) if ["http", "https"].contains(&scheme) && !path.is_empty() => path,
            _ => return Ok(None),
        };
        let name = name.rsplit('/').next();
        let name = name.filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)));
        let name = name.with_context(|| format!("{url} names no file; give a file's address"))?;
        let bytes = download(url)?;
        let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(99)]).to_ascii_lowercase();
        let is_page = ["<!doctype html", "<html"].map(|tag| begin.trim_start().starts_with(tag));
        ensure!(
            !is_page.contains(&true),
            "{url} is a web page; give the address of the file itself, as the page's link has it"
        );
        let file = Path::new(name);
        let is_here = std::fs::read(file).is_ok_and(|held| held == bytes);
        ensure!(
            is_here || !file.exists(),
            "another {name} is in this folder already; move it, or open it by its name"
        );
        if !is_here {
            std::fs::write(file, &bytes).with_context(|| format!("cannot write {name}"))?;
        }
        Ok(Some(name.into()))
    }

    /// Imports a file into the book beside it. The first position of one without moves is shown
    /// beside an empty book.
    fn import(&self, file: &Path) -> Result<Opened> {
        let book = file.with_extension("book");
        let mut words: Vec<String> = vec!["import".into(), "--book".into()];
        words.push(book.to_string_lossy().into_owned());
        let likely = match &self.variant {
            Some(_) => None,
            None => likely_variant(&self.place, &read_file(file).unwrap_or_default()),
        };
        if let Some(likely) = likely {
            let name = shown(file);
            eprintln!("{name} is read as {likely}; --variant says it if another game was played");
        }
        let likely = likely.map(|likely| likely.to_string());
        if let Some(variant) = self.variant.clone().or(likely) {
            words.extend(["--variant".into(), variant]);
        }
        words.extend(["--".into(), file.to_string_lossy().into_owned()]);
        let command = <import::Args as clap::Args>::augment_args(clap::Command::new("import"));
        let matches = command.try_get_matches_from(words)?;
        let args = import::Args::from_arg_matches(&matches)?;
        if let Err(error) = import::run(&args, &mut std::io::stderr()) {
            let place = first_position(file).ok_or(error)?;
            fill(&book, |_| Ok(()))?;
            let name = shown(file);
            eprintln!("{name} has no moves: the page begins at its first position");
            return Ok(Opened::Folder(book, place));
        }
        let is_interrupted = args.interrupted.load(Ordering::Relaxed);
        ensure!(!is_interrupted, "stopped; the book has the whole file");
        Ok(Opened::Folder(book, String::new()))
    }

    /// Opens the socket of the page.
    async fn listen(&self) -> Result<Listener> {
        let taken = |error: &anyhow::Error| {
            let cause = error.downcast_ref::<std::io::Error>();
            cause.is_some_and(|cause| cause.kind() == ErrorKind::AddrInUse)
        };
        let bind = async |address: SocketAddr| -> Result<Listener> {
            let socket = tokio::net::TcpListener::bind(address).await?;
            Ok(Listener::new(socket, None, MAX_CONNECTIONS)?)
        };
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let address = self.http.unwrap_or(at(PORT));
        match bind(address).await {
            Err(error) if self.http.is_none() && taken(&error) => bind(at(0)).await,
            bound => bound,
        }
        .with_context(|| format!("cannot listen on {address}; --http says where else"))
    }
}

/// Reads an address on this machine, or a port.
fn own_address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.parse() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => text
            .parse()
            .map_err(|_| "write an address, as 127.0.0.1:7616, or a port up to 65535")?,
    };
    if !address.ip().is_loopback() {
        return Err("the page is on this machine alone; `kagetsu serve` shows it to others".into());
    }
    Ok(address)
}

impl Args {
    /// Prints the address of a place on the page, and opens it.
    fn announce(&self, address: SocketAddr, place: &str, out: &mut dyn Write) -> Result<()> {
        let url = format!("http://{address}/{place}");
        writeln!(out, "{url}\nCtrl-C ends it")?;
        out.flush()?;
        if !self.no_browser
            && let Err(error) = opener::open_browser(&url)
        {
            writeln!(std::io::stderr(), "open {url} in a browser ({error})")?;
        }
        Ok(())
    }
}

/// Returns the place on the page of the first position of a xiangqi file without moves.
fn first_position(file: &Path) -> Option<String> {
    let bytes = read_file(file).ok()?;
    let mut importer = Importer::new(None, None);
    importer.set_source(&file.to_string_lossy());
    let trees = importer.read_trees(&bytes).unwrap_or_default().0;
    let listed = openings::of_lines(str::from_utf8(&bytes).unwrap_or_default(), Variant::XIANGQI);
    // A file with moves was refused for another reason.
    if trees.iter().any(|tree| !tree.moves.is_empty()) {
        return None;
    }
    let mut all = trees.into_iter().map(|tree| tree.start);
    let first = all.next().or_else(|| listed.ok()?.into_iter().next())?;
    let fen = first.fen().ok()?.replace('/', "%2F").replace(' ', "%20");
    (first != Position::start(first.variant())).then(|| format!("#/{}//{fen}", first.variant()))
}

/// Serves a site until Ctrl-C.
async fn show_site(args: &Args, folder: &Path, out: &mut dyn Write) -> Result<()> {
    let shutdown = CancellationToken::new();
    let listener = args.listen().await?;
    let address = listener.address();
    let pages = tokio::spawn(kagetsu_http::serve(
        listener,
        site(folder),
        shutdown.clone(),
    ));
    args.announce(address, "", out)?;
    stop_requested()?.await;
    shutdown.cancel();
    Ok(pages.await?)
}

/// Serves the page until Ctrl-C.
async fn show(args: &Args, opened: Opened, out: &mut dyn Write) -> Result<()> {
    let shutdown = CancellationToken::new();
    let mut config = Config {
        cache_mib: 128,
        trusts_workers: true,
        ..Config::default()
    };
    let (source, place) = match opened {
        Opened::Folder(book, place) => {
            config.book = Some(book);
            (None, place)
        }
        Opened::Source(source) => (Some(Arc::new(*source)), String::new()),
    };
    let mut server = Server::start(&config, shutdown.clone())?;
    server.source = source.or(server.source);
    let listener = args.listen().await?;
    let address = listener.address();
    let router = server.http(AccessPolicy::at(address));
    let pages = tokio::spawn(kagetsu_http::serve(listener, router, shutdown.clone()));
    let mut engines = Embedded::on_all_cores(server);
    args.announce(address, &place, out)?;
    let ended = tokio::select! {
        () = stop_requested()? => Ok(()),
        failed = engines.failed() => failed.map(|never| match never {}),
    };
    let ended = engines.end(&shutdown, ended).await;
    pages.await?;
    ended
}
