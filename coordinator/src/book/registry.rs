use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use kagetsu_api::{counted_message, graded_message};
use kagetsu_book::{
    Book, BookError, BookOptions, Entry, Grading, Overview, Place, Standing, Suspect,
};
use kagetsu_compiled::{Compiled, NamedBook};
use kagetsu_game::{Answer, Position};
use kagetsu_games::{FoundGames, GameFilter, GameStore};
use kagetsu_proofs::ProofBook;
use kagetsu_proto::v1;
use tonic::Status;

use super::handle::BookHandle;
use super::status::status;

/// Positions that statistics read at a time.
const GRADED_AT_ONCE: usize = 2_000;
/// Positions that are judged for the doubt about their values; nothing else is served meanwhile.
const MAX_JUDGED: u32 = 3_000;

/// The book's answer about a position.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) answer: Answer,
    /// The answer as it was searched; a compiled book does not have it.
    pub(crate) facts: Option<Answer>,
}

impl Found {
    /// Keeps the `top` best moves.
    pub(crate) fn keep(&mut self, top: usize) {
        self.answer.keep_best(top);
        if let Some(facts) = &mut self.facts {
            facts.retain(|m, _| self.answer.get(m).is_some());
        }
    }
}

impl From<Entry> for Found {
    fn from(entry: Entry) -> Self {
        Self {
            answer: entry.answer,
            facts: Some(entry.facts),
        }
    }
}

/// A book that is only read: a folder, a compiled file, or a certificate.
pub enum BookSource {
    /// A folder, which one process at a time may open.
    Folder(Box<Mutex<Book>>),
    /// A compiled file, which is opened again when it was replaced.
    File(Box<NamedBook>),
    /// A certificate, which is not checked.
    Certificate(Box<ProofBook>),
}

impl BookSource {
    /// Opens a folder, a compiled book or a certificate.
    ///
    /// # Errors
    /// If it is none of them, or another process has the folder.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        if path.is_file() {
            let about = || path.display().to_string();
            let mut text = BufReader::new(File::open(path).with_context(about)?);
            if let Some(proof) = ProofBook::read(&mut text).with_context(about)? {
                return Ok(Self::Certificate(Box::new(proof)));
            }
            return Ok(Self::File(Box::new(NamedBook::open(path)?)));
        }
        let (book, notices) = Book::open_to_read(path, &BookOptions::default())?;
        notices
            .iter()
            .for_each(|notice| tracing::warn!(book = %path.display(), "{notice}"));
        Ok(Self::Folder(Box::new(Mutex::new(book))))
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn positions(&self) -> u64 {
        match self {
            Self::Folder(book) => book.lock().unwrap_or_else(PoisonError::into_inner).len(),
            Self::File(file) => file.newest().len(),
            Self::Certificate(proof) => proof.nodes(),
        }
    }

    /// Returns a number that differs between two versions of the book.
    pub(crate) fn version(&self) -> u64 {
        match self {
            Self::File(file) => file.reopened(),
            Self::Folder(_) | Self::Certificate(_) => 0,
        }
    }

    pub(crate) fn lookup(&self, positions: &[Position]) -> Result<Vec<Option<Found>>, BookError> {
        match self {
            Self::Folder(book) => {
                let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                positions
                    .iter()
                    .map(|position| Ok(book.lookup(position)?.map(Found::from)))
                    .collect()
            }
            Self::File(file) => {
                let compiled = file.newest();
                let known = |(answer, _)| Found {
                    answer,
                    facts: None,
                };
                positions
                    .iter()
                    .map(|position| Ok(compiled.lookup(position)?.map(known)))
                    .collect()
            }
            Self::Certificate(proof) => {
                let known = |answer| Found {
                    answer,
                    facts: None,
                };
                let found = positions.iter().map(|position| proof.lookup(position));
                Ok(found.map(|answer| answer.map(known)).collect())
            }
        }
    }
}

/// The book that the books service reads.
#[derive(Clone)]
pub(crate) enum BookRegistry {
    /// A coordinator without a book.
    None,
    /// The book that a coordinator grows.
    Growing(BookHandle),
    /// A book that does not change.
    ReadOnly(Arc<BookSource>),
}

impl BookRegistry {
    pub(crate) async fn lookup(
        &self,
        positions: Vec<Position>,
    ) -> Result<Vec<Option<Found>>, Status> {
        match self {
            Self::None => Err(no_book()),
            Self::Growing(book) => {
                let found = book
                    .lookup(positions)
                    .await
                    .map_err(|closed| Status::unavailable(closed.to_string()))?;
                let found = found.map_err(|error| status(&error))?;
                Ok(found
                    .into_iter()
                    .map(|entry| entry.map(Found::from))
                    .collect())
            }
            Self::ReadOnly(source) => source.lookup(&positions).map_err(|error| status(&error)),
        }
    }

    /// Reads the folder of the book; `None` for a file, which has none.
    async fn inspect<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Book) -> Result<T, BookError> + Send + 'static,
    ) -> Result<Option<T>, Status> {
        match self {
            Self::None => Err(no_book()),
            Self::Growing(book) => {
                let closed = |error: super::handle::Closed| Status::unavailable(error.to_string());
                let result = book.inspect(read).await.map_err(closed)?;
                result.map(Some).map_err(|error| status(&error))
            }
            Self::ReadOnly(source) => match &**source {
                BookSource::Folder(book) => {
                    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                    read(&book).map(Some).map_err(|error| status(&error))
                }
                BookSource::File(_) | BookSource::Certificate(_) => Ok(None),
            },
        }
    }

    fn compiled(&self) -> Option<Arc<Compiled>> {
        match self {
            Self::ReadOnly(source) => match &**source {
                BookSource::File(file) => Some(file.newest()),
                BookSource::Folder(_) | BookSource::Certificate(_) => None,
            },
            Self::None | Self::Growing(_) => None,
        }
    }

    fn certificate(&self) -> Option<&ProofBook> {
        match self {
            Self::ReadOnly(source) => match &**source {
                BookSource::Certificate(proof) => Some(proof),
                BookSource::Folder(_) | BookSource::File(_) => None,
            },
            Self::None | Self::Growing(_) => None,
        }
    }

    /// Returns the variants of the book with their roots.
    pub(crate) async fn overview(&self) -> Result<Overview, Status> {
        if let Some(compiled) = self.compiled() {
            return Ok(compiled.overview().clone());
        }
        if let Some(proof) = self.certificate() {
            return Ok(Overview::of_root(proof.position().clone(), proof.nodes()));
        }
        Ok(self.inspect(Book::overview).await?.unwrap_or_default())
    }

    /// Returns the statistics of the book. Reads a folder in parts, so that others are served in
    /// between.
    pub(crate) async fn statistics(&self) -> Result<v1::BookStatistics, Status> {
        if let Some(compiled) = self.compiled() {
            return Ok(counted_message(compiled.stats()));
        }
        if self.certificate().is_some() {
            let reason = "a certificate has no statistics; `kagetsu verify` describes it";
            return Err(Status::failed_precondition(reason));
        }
        let mut grading = Grading::default();
        loop {
            let some = self.inspect(move |book| {
                let is_more = book.grade_some(&mut grading, GRADED_AT_ONCE)?;
                Ok((grading, is_more))
            });
            let (read, is_more) = some.await?.unwrap_or_default();
            grading = read;
            if !is_more {
                let mut grades = grading.finish();
                let named = self.inspect(move |book| {
                    book.name_holes(&mut grades)?;
                    Ok(grades)
                });
                return Ok(graded_message(&named.await?.unwrap_or_default()));
            }
        }
    }

    /// Returns how each job sees positions.
    pub(crate) async fn standings(
        &self,
        positions: Vec<Position>,
    ) -> Result<Vec<Vec<Standing>>, Status> {
        let count = positions.len();
        let read = self.inspect(move |book| {
            positions
                .iter()
                .map(|position| book.standings(position))
                .collect()
        });
        Ok(read.await?.unwrap_or_else(|| vec![Vec::new(); count]))
    }

    /// Returns the `top` most doubtful positions from one on; `None` if the book does not hold it.
    pub(crate) async fn suspects(
        &self,
        root: Position,
        top: usize,
    ) -> Result<Option<Vec<Suspect>>, Status> {
        let read = self.inspect(move |book| {
            let mut suspects = book.suspects(&root, MAX_JUDGED)?;
            if let Some(suspects) = &mut suspects {
                suspects.truncate(top);
            }
            Ok(suspects)
        });
        Ok(read.await?.flatten())
    }

    /// Returns the imported games that passed a position; a compiled book has none.
    pub(crate) async fn games(
        &self,
        position: Position,
        filter: GameFilter,
        top: u32,
    ) -> Result<FoundGames, Status> {
        let folder = self.inspect(|book| Ok(book.path().to_path_buf())).await?;
        let Some(folder) = folder else {
            return Ok(FoundGames::default());
        };
        let read = move || match GameStore::open(&folder)? {
            Some(store) => store.find(&position, &filter, top),
            None => Ok(FoundGames::default()),
        };
        let found = tokio::task::spawn_blocking(read).await;
        let found = found.map_err(|error| Status::internal(error.to_string()))?;
        found.map_err(|error| Status::data_loss(error.to_string()))
    }

    /// Returns the next `most` entries after a place.
    pub(crate) async fn page(
        &self,
        after: Option<Place>,
        most: usize,
    ) -> Result<Vec<Entry>, Status> {
        match self {
            Self::None => Err(no_book()),
            Self::Growing(book) => {
                let page = book
                    .page(after, most)
                    .await
                    .map_err(|closed| Status::unavailable(closed.to_string()))?;
                page.map_err(|error| status(&error))
            }
            Self::ReadOnly(source) => match &**source {
                BookSource::Folder(book) => {
                    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                    book.page(after, most).map_err(|error| status(&error))
                }
                BookSource::File(_) => {
                    let reason = "a compiled book cannot be exported: it holds only the keys of \
                                  its positions; export from its folder";
                    Err(Status::failed_precondition(reason))
                }
                BookSource::Certificate(_) => {
                    let reason = "a certificate is a tree of moves, not a list of positions; copy \
                                  its file";
                    Err(Status::failed_precondition(reason))
                }
            },
        }
    }
}

fn no_book() -> Status {
    Status::failed_precondition("this coordinator has no book; start it with --book DIR")
}
