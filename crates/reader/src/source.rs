use std::sync::Arc;

use anyhow::{Result, bail};
use kagetsu_api::{AnnotationsJson, AnswerJson};
use kagetsu_book::{
    AnnotationJson, Book, BookError, BookSnapshot, CheckReport, Entry, Nearest, Overview, Place,
};
use kagetsu_compiled::NamedBook;
use kagetsu_game::{Answer, Key, Position};
use kagetsu_games::{FoundGames, GameFilter, GameStore};
use kagetsu_proofs::ProofBook;

use crate::error::ViewError;
use crate::found::Found;
use crate::results::GameResults;
use crate::server::ServerBook;

/// Earlier positions of a line that are looked up for a message.
const MAX_PREFIXES: usize = 400;
/// Those of them that are looked up together.
const PART: usize = 64;

/// A book, wherever it is. No method changes it, and any number of threads may read it at once.
#[expect(
    clippy::large_enum_variant,
    reason = "a source is made once and not moved"
)]
pub enum Source {
    /// A folder as it was when it was opened.
    Folder(FolderBook),
    /// A compiled book: one file, which is opened again when it was replaced.
    File(Box<NamedBook>),
    /// A certificate, which knows the winner's moves and the loser's replies. It is not checked.
    Certificate(CertificateBook),
    /// The book that a coordinator grows.
    Growing(Box<dyn GrowingBook>),
    /// The book of a coordinator or of a book server.
    Server(Box<ServerBook>),
}

/// A folder, or a book in a database with its index in a folder.
pub struct FolderBook {
    pub(crate) book: Book,
    /// Whether the journal is in a database.
    pub(crate) is_in_database: bool,
}

/// A certificate with the size of its file.
pub struct CertificateBook {
    pub(crate) proof: ProofBook,
    pub(crate) bytes: u64,
}

/// A book that another thread changes.
pub trait GrowingBook: Send + Sync {
    /// Waits for the book as it is now.
    ///
    /// # Errors
    /// If the book is closed.
    fn snapshot(&self) -> Result<Arc<BookSnapshot>, BookClosed>;

    /// Returns the number of journal entries on disk, which grows with every change.
    fn entries(&self) -> u64;

    /// Returns the number of positions on disk.
    fn positions(&self) -> u64;
}

/// The writer of a growing book has ended.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the book is closed")]
pub struct BookClosed;

/// Every method fails if the book is damaged, or its server cannot be reached.
impl Source {
    /// Looks up a position: its answer with the values from the positions behind the moves.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn lookup(&self, position: &Position) -> Result<Option<Answer>> {
        Ok(self.find(position)?.map(|found| found.answer))
    }

    /// Looks up a position: its answer as it was searched.
    ///
    /// # Errors
    /// See [`Source`]; or if the book does not keep these values.
    pub fn lookup_searched(&self, position: &Position) -> Result<Option<Answer>> {
        match (self, self.find(position)?) {
            (Self::Certificate(_), Some(found)) => Ok(Some(found.answer)),
            (_, Some(Found { facts: None, .. })) => {
                bail!("a compiled book holds no values as they were searched; ask its folder")
            }
            (_, found) => Ok(found.and_then(|found| found.facts)),
        }
    }

    /// Looks up a position.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn find(&self, position: &Position) -> Result<Option<Found>> {
        Ok(self
            .find_all(std::slice::from_ref(position))?
            .pop()
            .flatten())
    }

    /// Looks up positions, in their order.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn find_all(&self, positions: &[Position]) -> Result<Vec<Option<Found>>> {
        let positions = positions.iter();
        match self {
            Self::Folder(_) | Self::Growing(_) => {
                let found = self.inspect(|book| {
                    let found = positions.map(|position| book.lookup(position));
                    found.map(|entry| Ok(entry?.map(Found::from))).collect()
                })?;
                Ok(found.unwrap_or_default())
            }
            Self::File(file) => {
                let file = file.newest();
                let found = |position| {
                    let found = file.lookup(position)?;
                    Ok(found.map(|(answer, derived)| Found {
                        answer,
                        facts: None,
                        derived: Some(derived),
                    }))
                };
                positions.map(found).collect()
            }
            Self::Certificate(certificate) => Ok(positions
                .map(|position| {
                    let answer = certificate.proof.lookup(position)?;
                    Some(Found {
                        answer,
                        facts: None,
                        derived: None,
                    })
                })
                .collect()),
            Self::Server(server) => server.find_all(positions.as_slice()),
        }
    }

    /// Reads the book itself; `None` for a book that is no folder here and does not grow here.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn inspect<T>(
        &self,
        read: impl FnOnce(&Book) -> Result<T, BookError>,
    ) -> Result<Option<T>> {
        match self {
            Self::Folder(folder) => Ok(Some(read(&folder.book)?)),
            Self::Growing(growing) => Ok(Some(read(&*growing.snapshot()?)?)),
            Self::File(_) | Self::Certificate(_) | Self::Server(_) => Ok(None),
        }
    }

    /// Returns the variants and roots of the book.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn overview(&self) -> Result<Overview> {
        match self {
            Self::File(file) => Ok(file.newest().overview().clone()),
            Self::Certificate(CertificateBook { proof, .. }) => {
                Ok(Overview::of_root(proof.position().clone(), proof.nodes()))
            }
            Self::Server(server) => server.overview(),
            Self::Folder(_) | Self::Growing(_) => {
                Ok(self.inspect(Book::overview)?.unwrap_or_default())
            }
        }
    }

    /// Returns the size on disk, in bytes; `None` for a book on a server.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn bytes(&self) -> Result<Option<u64>> {
        match self {
            Self::File(file) => Ok(Some(file.newest().bytes())),
            Self::Certificate(certificate) => Ok(Some(certificate.bytes)),
            Self::Folder(_) | Self::Growing(_) => self.inspect(Book::bytes),
            Self::Server(_) => Ok(None),
        }
    }

    /// Returns the number of positions, if it is known without a call to a server.
    #[must_use]
    pub fn positions(&self) -> Option<u64> {
        match self {
            Self::Folder(folder) => Some(folder.book.len()),
            Self::File(file) => Some(file.newest().len()),
            Self::Certificate(certificate) => Some(certificate.proof.nodes()),
            Self::Growing(growing) => Some(growing.positions()),
            Self::Server(_) => None,
        }
    }

    /// Returns the mean nodes of an entry, for a book whose answers do not say them; else 0.
    #[must_use]
    pub fn entry_nodes(&self) -> u64 {
        match self {
            Self::File(file) => file.newest().stats().mean_nodes(),
            _ => 0,
        }
    }

    /// Returns a number that differs between two versions of the book.
    #[must_use]
    pub fn version(&self) -> u64 {
        match self {
            Self::File(file) => file.reopened(),
            Self::Growing(growing) => growing.entries(),
            _ => 0,
        }
    }

    /// Checks the integrity of the book. `progress` gets the number of checked positions.
    ///
    /// # Errors
    /// See [`Source`]; or if the book is not on this machine.
    pub fn check(&self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        match self {
            Self::Folder(folder) => Ok(folder.book.check(progress)?),
            Self::File(file) => Ok(file.newest().check(progress)),
            Self::Certificate(_) => bail!("a certificate is checked by `kagetsu verify FILE`"),
            Self::Growing(_) => bail!("a book that grows is checked by `kagetsu check --book DIR`"),
            Self::Server(server) => bail!(
                "{} is a server; only the files of a book can be checked: \
                 run `kagetsu check --book DIR` where they are",
                server.url()
            ),
        }
    }

    /// Returns the whole contents: every position with its moves as they were searched. The book
    /// of a server is copied for this; `progress` gets the number of positions copied so far.
    ///
    /// # Errors
    /// See [`Source`]; or if the book does not keep its positions.
    pub fn contents(&mut self, progress: &mut dyn FnMut(u64)) -> Result<&Book> {
        match self {
            Self::Folder(folder) => Ok(&folder.book),
            Self::Server(server) => server.contents(progress),
            Self::File(_) | Self::Growing(_) => bail!(
                "a compiled book holds only the keys of its positions; give the folder that it \
                 was compiled from"
            ),
            Self::Certificate(_) => {
                bail!(
                    "a certificate holds one move for each position; give the book that it came from"
                )
            }
        }
    }

    /// Returns the next `most` entries after a place.
    ///
    /// # Errors
    /// [`ViewError::Unsupported`] for a book that does not keep its positions.
    pub fn page(&self, after: Option<Place>, most: usize) -> Result<Vec<Entry>, ViewError> {
        let page = self.inspect(|book| book.page(after, most))?;
        page.ok_or_else(|| {
            ViewError::Unsupported(match self {
                Self::Certificate(_) => "a certificate is a tree of moves, not a list of \
                                         positions; copy its file"
                    .into(),
                _ => "a compiled book cannot be exported: it holds only the keys of its \
                      positions; export from its folder"
                    .into(),
            })
        })
    }

    /// Returns what people wrote about a position; nothing where the book holds positions alone.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn annotations(&self, at: &Position) -> Result<Vec<AnnotationJson>, ViewError> {
        if let Self::Server(server) = self {
            let json = server.read("annotations", Some(at), "{}".into())?;
            let read = serde_json::from_str::<AnnotationsJson>(&json);
            return Ok(read.map_err(anyhow::Error::from)?.annotations);
        }
        let notes = match self {
            Self::File(file) => file.newest().annotations(at),
            _ => {
                let notes = self.inspect(|book| book.annotations(at))?;
                notes.unwrap_or_default()
            }
        };
        let notes = notes.iter();
        Ok(notes.map(|note| AnnotationJson::new(at, note)).collect())
    }

    /// Returns the answer as people want it played: without the moves that they avoid, and only
    /// with those that they prefer, where the answer has any other or any of these.
    ///
    /// # Errors
    /// See [`Source`].
    pub fn by_hand(&self, at: &Position, answer: Answer) -> Result<Answer, ViewError> {
        let notes = self.annotations(at)?;
        let notes: Vec<_> = notes.iter().filter_map(|note| note.read(at).ok()).collect();
        Ok(kagetsu_compiled::by_hand(&notes, answer))
    }

    /// Returns the imported games that passed a position, with the first `top` of them listed.
    ///
    /// # Errors
    /// See [`Source`]; [`ViewError::Unsupported`] for a book in a database.
    pub(crate) fn games(
        &self,
        at: &Position,
        filter: &GameFilter,
        top: u32,
    ) -> Result<FoundGames, ViewError> {
        if let Self::Folder(FolderBook {
            is_in_database: true,
            ..
        }) = self
        {
            let reason =
                "a book in a database has no games: give the folder into which they were imported";
            return Err(ViewError::Unsupported(reason.into()));
        }
        let Some(folder) = self.inspect(|book| Ok(book.path().to_path_buf()))? else {
            let reason = "only a book folder and its server have games, and this book holds \
                          positions alone: give the folder into which the games were imported";
            return Err(ViewError::Unsupported(reason.into()));
        };
        let store = GameStore::open(&folder).map_err(anyhow::Error::from)?;
        let found = store.map(|store| store.find(at, filter, top)).transpose();
        Ok(found.map_err(anyhow::Error::from)?.unwrap_or_default())
    }

    /// Returns the results of the imported games that passed a position; none where the book holds
    /// positions alone. With a half-life in years older games of a folder count less.
    ///
    /// # Errors
    /// If the games cannot be read.
    pub fn results<'a>(
        &self,
        at: &'a Position,
        half_life: Option<f64>,
    ) -> Result<GameResults<'a>, ViewError> {
        let results = match self {
            Self::File(file) => {
                let file = file.newest();
                let counted = file
                    .games(at)
                    .iter()
                    .map(|(next, counts)| (Key(*next), counts.map(f64::from)));
                counted.collect()
            }
            Self::Server(server) => {
                let json = server.read("book", Some(at), "{}".into())?;
                let read: AnswerJson = serde_json::from_str(&json).map_err(anyhow::Error::from)?;
                GameResults::of_json(at, &read)
            }
            _ => {
                let folder = self.inspect(|book| Ok(book.path().to_path_buf()))?;
                let store = folder.map(|folder| GameStore::open(&folder));
                let store = store.transpose().map_err(anyhow::Error::from)?.flatten();
                let results = store.map(|store| store.results(at, half_life)).transpose();
                results.map_err(anyhow::Error::from)?.unwrap_or_default()
            }
        };
        Ok(GameResults::new(at, results))
    }

    /// Returns the error for a position that the book does not hold. It names the nearest part that
    /// the book holds.
    #[must_use]
    pub fn not_held(&self, position: &Position) -> ViewError {
        match self.nearest(position) {
            Ok(nearest) => ViewError::NotHeld {
                message: nearest.message(position),
                held_moves: match nearest {
                    Nearest::Line(line) => Some(line.moves().len()),
                    _ => None,
                },
            },
            Err(error) => error.into(),
        }
    }

    fn nearest(&self, position: &Position) -> Result<Nearest> {
        let mut line = None;
        let before: Vec<_> = position.prefixes().take(MAX_PREFIXES).collect();
        for before in before.chunks(PART) {
            let found = self.find_all(before)?;
            let held = found.iter().position(Option::is_some);
            if let Some(at) = held {
                line = Some(before[at].clone());
                break;
            }
        }
        Ok(self.overview()?.nearest(position, line))
    }
}
