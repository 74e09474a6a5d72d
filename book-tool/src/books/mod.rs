//! Where book positions come from.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::{Book, BookError, BookOptions, Compiled, Notice, Sequence};
use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::{Access, AuthenticatedChannel, explain, v1};
use tokio::runtime::Runtime;

use crate::arguments::position::Place;
use crate::runtime::runtime;

/// What is asked about, and which book.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// A book's folder, a compiled book, or the URL of a coordinator, as in http://127.0.0.1:7615
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    place: Place,
}

impl Asked {
    /// The position, and the opened book.
    ///
    /// # Errors
    /// A position that cannot be; all that [`Source::open`] says.
    pub(crate) fn open(&self) -> Result<(Position, Source)> {
        Ok((
            self.place.position()?,
            Source::open(&self.book, &self.access)?,
        ))
    }
}

/// A book's folder, what was compiled of one, or a coordinator that has one.
pub(crate) enum Source {
    /// The folder.
    Folder(Box<Book>),
    /// The compiled book.
    File(Box<Compiled>),
    /// The coordinator.
    Server(Box<Server>),
}

/// A connection to a coordinator.
pub(crate) struct Server {
    url: String,
    client: BooksClient<AuthenticatedChannel>,
    runtime: Runtime,
}

impl Source {
    /// Opens a book; text with `://` is a URL, to be spoken to by `access`.
    ///
    /// # Errors
    /// If it is not there, or another process has it.
    pub(crate) fn open(book: &str, access: &Access) -> Result<Self> {
        if !book.contains("://") {
            let opened = open_any(Path::new(book))
                .map_err(|error| or_ask(error, "its URL in place of the folder"));
            return Ok(match opened? {
                Any::Folder(book) => Self::Folder(book),
                Any::File(compiled) => Self::File(compiled),
            });
        }
        let connector = access.connector(book)?;
        let runtime = runtime()?;
        let client = BooksClient::new(runtime.block_on(connector.connect())?);
        Ok(Self::Server(Box::new(Server {
            url: book.to_string(),
            client,
            runtime,
        })))
    }

    /// What the book knows of a position: what it believes, or (`searched`) just what was searched there.
    ///
    /// # Errors
    /// If the book is damaged, or the server gone.
    pub(crate) fn lookup(&mut self, position: &Position, searched: bool) -> Result<Option<Answer>> {
        match self {
            Self::Folder(book) => {
                let entry = book.lookup(position)?;
                Ok(entry.map(|entry| if searched { entry.facts } else { entry.answer }))
            }
            Self::File(_) if searched => {
                bail!("a compiled book holds no values as they were searched; ask its folder")
            }
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

/// An error about a book's folder, as it is told by a command that can ask a coordinator as well; and how.
pub(crate) fn or_ask(error: anyhow::Error, how: &str) -> anyhow::Error {
    match error.downcast_ref() {
        Some(BookError::Held { path, holder }) => {
            let path = path.display();
            anyhow!(
                "the book {path} is open in process {holder}; ask that process ({how}), or stop it"
            )
        }
        Some(BookError::Url(url)) => {
            let url = url.display();
            anyhow!(
                "--book {url} is a URL, and this needs a folder; give --coordinator {url} in its place"
            )
        }
        _ => error,
    }
}

/// How a command asks a coordinator that has a flag for it.
pub(crate) const BY_FLAG: &str = "its URL as --coordinator in place of --book";

/// A book on this machine.
pub(crate) enum Any {
    /// Its folder.
    Folder(Box<Book>),
    /// What was compiled of it.
    File(Box<Compiled>),
}

/// Opens a folder, or a compiled book.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn open_any(path: &Path) -> Result<Any> {
    if path.is_file() {
        return Ok(Any::File(Box::new(Compiled::open(path)?)));
    }
    Ok(Any::Folder(Box::new(open_book(path, false)?)))
}

/// Opens a folder and tells what there is to tell.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn open_book(path: &Path, create: bool) -> Result<Book> {
    let (book, notices) = Book::open(
        path,
        &BookOptions {
            create,
            ..BookOptions::default()
        },
    )?;
    tell(path, &notices)?;
    Ok(book)
}

/// A place where a book is, or is to be made.
pub(crate) struct Room<'a> {
    path: &'a Path,
    /// Whether there was a folder, and in it a book.
    was_there: (bool, bool),
}

impl<'a> Room<'a> {
    /// The place as it is before anything is done there.
    pub(crate) fn at(path: &'a Path) -> Self {
        Self {
            path,
            was_there: (path.exists(), path.join("journal").exists()),
        }
    }

    /// Makes the place what it was, if nothing was put into a book that was made there; nobody has it open.
    pub(crate) fn tidy(&self) {
        let (had_folder, had_book) = self.was_there;
        if had_book {
            return;
        }
        // An empty book does no harm, and what went wrong before is what is to be told.
        let Ok((book, _)) = Book::open(self.path, &BookOptions::default()) else {
            return;
        };
        if book.sequence() == Sequence(0) && book.unmake().is_ok() && !had_folder {
            let _ = std::fs::remove_dir(self.path);
        }
    }
}

/// Opens a folder to put something into its book, which is made where it is not there, and made durable at the end. One that was made
/// for this is removed again where `work` fails before anything is in it.
///
/// # Errors
/// If it cannot be opened or written; what `work` says.
pub(crate) fn fill<T>(path: &Path, work: impl FnOnce(&mut Book) -> Result<T>) -> Result<T> {
    let room = Room::at(path);
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

fn tell(path: &Path, notices: &[Notice]) -> Result<()> {
    for notice in notices {
        writeln!(
            std::io::stderr(),
            "kagetsu: book {}: {notice}",
            path.display()
        )?;
    }
    Ok(())
}
