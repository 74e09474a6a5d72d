//! Reads a book wherever it is: a folder, a compiled file, a certificate, a database, or a server.
//!
//! The crate refuses any change of a book that a command did not ask for, and all searching.
#![forbid(unsafe_code)]

mod database;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::{Book, BookError, BookOptions, Compiled, Notice, OpenError, Sequence};
use kagetsu_game::{Answer, Bound, Claim, Position, Proof, ProofKind, Provenance, Verdict};
use kagetsu_postgres::BookUrl;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::{Access, AuthenticatedChannel, explain, v1};
use kagetsu_verify::{ProofBook, ProvenMove, Tree};
use tokio::runtime::Runtime;

/// A readable book.
pub enum BookSource {
    /// A book folder.
    Folder(Box<Book>),
    /// A compiled book.
    File(Box<Compiled>),
    /// A certificate, which knows the winner's moves.
    Proof(Box<ProofBook>),
    /// A coordinator or a book server.
    Server(Box<Server>),
}

/// A connection to a server.
pub struct Server {
    url: String,
    client: BooksClient<AuthenticatedChannel>,
    runtime: Runtime,
}

impl BookSource {
    /// Opens a book. A text with `://` is the URL of a server, to which `access` applies.
    ///
    /// # Errors
    /// If there is no book, or another process has it open.
    pub fn open(book: &str, access: &Access) -> Result<Self> {
        if !book.contains("://") || BookUrl::is_one(book) {
            if let Some(proof) = open_proof(Path::new(book))? {
                return Ok(Self::Proof(Box::new(proof)));
            }
            let opened = open_local(Path::new(book))
                .map_err(|error| with_hint(error, "its URL in place of the folder"));
            return Ok(match opened? {
                LocalBook::Folder(book) => Self::Folder(book),
                LocalBook::File(compiled) => Self::File(compiled),
            });
        }
        let connector = access.connector(book)?;
        let runtime = Runtime::new()?;
        let client = BooksClient::new(runtime.block_on(connector.connect())?);
        Ok(Self::Server(Box::new(Server {
            url: book.to_string(),
            client,
            runtime,
        })))
    }

    /// Looks up a position: its propagated answer or, with `searched`, the values as they were
    /// searched.
    ///
    /// # Errors
    /// If the book is damaged, or the server cannot be reached.
    pub fn lookup(&mut self, position: &Position, searched: bool) -> Result<Option<Answer>> {
        match self {
            Self::Folder(book) => {
                let entry = book.lookup(position)?;
                Ok(entry.map(|entry| if searched { entry.facts } else { entry.answer }))
            }
            Self::File(_) if searched => {
                bail!("a compiled book holds no values as they were searched; ask its folder")
            }
            Self::Proof(proof) => Ok(proof.answer(position).map(proven_answer)),
            Self::File(compiled) => Ok(compiled.lookup(position)?.map(|(answer, _)| answer)),
            Self::Server(server) => {
                let Server {
                    url,
                    client,
                    runtime,
                } = &mut **server;
                let found = runtime.block_on(client.lookup(v1::Position::from(position)));
                let found = found
                    .map_err(|status| anyhow!(explain(url, &status)))?
                    .into_inner();
                let answer = if searched { found.facts } else { found.answer };
                let answer = answer.map(|answer| answer.about(position)).transpose();
                answer.with_context(|| format!("{url} gave an answer that cannot be"))
            }
        }
    }
}

/// Opens a file as a certificate; `None` if it is none. The certificate is not checked.
fn open_proof(path: &Path) -> Result<Option<ProofBook>> {
    if !path.is_file() {
        return Ok(None);
    }
    let about = || path.display().to_string();
    let mut source = BufReader::new(File::open(path).with_context(about)?);
    if !source
        .fill_buf()
        .with_context(about)?
        .starts_with(b"kagetsu-proof ")
    {
        return Ok(None);
    }
    let tree = Tree::read(&mut source).with_context(about)?;
    ProofBook::new(tree).map(Some).with_context(about)
}

/// Returns what a certificate says of a position: the winner's move.
fn proven_answer(proven: ProvenMove) -> Answer {
    let proof = Proof {
        claim: Claim::Win,
        kind: ProofKind::Tree,
        plies: proven.plies,
    };
    let verdict = Verdict {
        score: proof.score(),
        bound: Bound::Exact,
        depth: u8::try_from(proven.plies).unwrap_or(u8::MAX),
        nodes: 0,
        line: vec![proven.at],
        proof: Some(proof),
        by: Provenance {
            engine: "certificate".into(),
            day: 0,
        },
    };
    [(proven.at, verdict)].into_iter().collect()
}

/// Adds to an error about a book folder how to ask the process that holds it (`how`).
pub fn with_hint(error: anyhow::Error, how: &str) -> anyhow::Error {
    match error.downcast_ref() {
        Some(BookError::Open(OpenError::Held { path, holder })) => {
            let path = path.display();
            anyhow!(
                "the book {path} is open in process {holder}; ask that process ({how}), or stop it"
            )
        }
        Some(BookError::Open(OpenError::Url(url))) => {
            let url = url.display();
            anyhow!(
                "--book {url} is a URL, and this needs a folder; give --coordinator {url} in its place"
            )
        }
        _ => error,
    }
}

/// The hint for commands with a flag `--coordinator`.
pub const COORDINATOR_FLAG: &str = "its URL as --coordinator in place of --book";

/// A book on this machine.
pub enum LocalBook {
    /// A book folder.
    Folder(Box<Book>),
    /// A compiled book.
    File(Box<Compiled>),
}

/// Opens a book folder or a compiled book.
///
/// # Errors
/// If it cannot be opened.
pub fn open_local(path: &Path) -> Result<LocalBook> {
    if path.is_file() {
        return Ok(LocalBook::File(Box::new(Compiled::open(path)?)));
    }
    Ok(LocalBook::Folder(Box::new(open_book(path, false)?)))
}

/// Opens a book folder and prints its notices on stderr.
///
/// # Errors
/// If it cannot be opened.
pub fn open_book(path: &Path, create: bool) -> Result<Book> {
    if let Some(text) = path.to_str().filter(|text| BookUrl::is_one(text)) {
        return database::open(text, create);
    }
    let (book, notices) = Book::open(
        path,
        &BookOptions {
            create,
            ..BookOptions::default()
        },
    )?;
    tell(path.display(), &notices)?;
    Ok(book)
}

/// The folder of a book that may have to be created.
pub struct BookFolder<'a> {
    path: &'a Path,
    /// Whether the folder existed, and whether it held a book.
    was_there: (bool, bool),
}

impl<'a> BookFolder<'a> {
    /// Notes the state of the folder before a command.
    pub fn at(path: &'a Path) -> Self {
        Self {
            path,
            was_there: (path.exists(), path.join("journal").exists()),
        }
    }

    /// Removes a book that the command created and left empty. The book must be closed.
    pub fn tidy(&self) {
        let (had_folder, had_book) = self.was_there;
        if had_book {
            return;
        }
        // An empty book does no harm, and the error that came before is the one to report.
        let Ok((book, _)) = Book::open(self.path, &BookOptions::default()) else {
            return;
        };
        if book.sequence() == Sequence(0) && book.unmake().is_ok() && !had_folder {
            let _ = std::fs::remove_dir(self.path);
        }
    }
}

/// Opens or creates a book, lets `work` write to it, and flushes it to disk. If `work` fails before
/// anything is written, a book created here is removed again.
///
/// # Errors
/// If the book cannot be opened or written, and the errors of `work`.
pub fn fill<T>(path: &Path, work: impl FnOnce(&mut Book) -> Result<T>) -> Result<T> {
    let room = BookFolder::at(path);
    let mut book = open_book(path, true)?;
    let done = work(&mut book);
    let closed = book.close();
    if done.is_err() {
        room.tidy();
    }
    let done = done?;
    closed?;
    Ok(done)
}

fn tell(path: impl std::fmt::Display, notices: &[Notice]) -> Result<()> {
    for notice in notices {
        writeln!(std::io::stderr(), "kagetsu: book {}: {notice}", path)?;
    }
    Ok(())
}
