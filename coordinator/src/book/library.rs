use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use kagetsu_book::{Book, BookError, BookOptions, Compiled, Entry, Place};
use kagetsu_game::{Answer, Position};
use tonic::Status;

use crate::book::desk::KeeperDesk;
use crate::services::books::status;

/// What is known of a position.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) answer: Answer,
    /// As it was searched, where the book remembers.
    pub(crate) facts: Option<Answer>,
}

impl Known {
    /// Keeps the `top` best moves.
    pub(crate) fn keep(&mut self, top: usize) {
        self.answer.keep_best(top);
        if let Some(facts) = &mut self.facts {
            facts.retain(|m, _| self.answer.get(m).is_some());
        }
    }
}

impl From<Entry> for Known {
    fn from(entry: Entry) -> Self {
        Self {
            answer: entry.answer,
            facts: Some(entry.facts),
        }
    }
}

/// A book that is only read: its folder, or what was compiled of one.
pub enum Shelf {
    /// The folder; one process may have it.
    Folder(Box<Mutex<Book>>),
    /// The file.
    File(Box<Compiled>),
}

impl Shelf {
    /// Opens a folder or a compiled book.
    ///
    /// # Errors
    /// If it is neither, or another process has the folder.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        if path.is_file() {
            return Ok(Self::File(Box::new(Compiled::open(path)?)));
        }
        let (book, notices) = Book::open(path, &BookOptions::default())?;
        notices
            .iter()
            .for_each(|notice| tracing::warn!(book = %path.display(), "{notice}"));
        Ok(Self::Folder(Box::new(Mutex::new(book))))
    }

    /// Positions that it holds.
    #[must_use]
    pub fn positions(&self) -> u64 {
        match self {
            Self::Folder(book) => book.lock().unwrap_or_else(PoisonError::into_inner).len(),
            Self::File(compiled) => compiled.len(),
        }
    }

    pub(crate) fn lookup(&self, positions: &[Position]) -> Result<Vec<Option<Known>>, BookError> {
        match self {
            Self::Folder(book) => {
                let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                positions
                    .iter()
                    .map(|position| Ok(book.lookup(position)?.map(Known::from)))
                    .collect()
            }
            Self::File(compiled) => {
                let known = |(answer, _)| Known {
                    answer,
                    facts: None,
                };
                positions
                    .iter()
                    .map(|position| Ok(compiled.lookup(position)?.map(known)))
                    .collect()
            }
        }
    }
}

/// Where the books service reads.
#[derive(Clone)]
pub(crate) enum Library {
    /// A coordinator without a book.
    None,
    /// The book that a coordinator grows.
    Keeper(KeeperDesk),
    /// A book that does not change.
    Shelf(Arc<Shelf>),
}

impl Library {
    pub(crate) async fn lookup(
        &self,
        positions: Vec<Position>,
    ) -> Result<Vec<Option<Known>>, Status> {
        match self {
            Self::None => Err(no_book()),
            Self::Keeper(keeper) => {
                let found = keeper
                    .lookup(positions)
                    .await
                    .map_err(|closed| Status::unavailable(closed.to_string()))?;
                let found = found.map_err(|error| status(&error))?;
                Ok(found
                    .into_iter()
                    .map(|entry| entry.map(Known::from))
                    .collect())
            }
            Self::Shelf(shelf) => shelf.lookup(&positions).map_err(|error| status(&error)),
        }
    }

    /// The next `most` entries after a place.
    pub(crate) async fn page(
        &self,
        after: Option<Place>,
        most: usize,
    ) -> Result<Vec<Entry>, Status> {
        match self {
            Self::None => Err(no_book()),
            Self::Keeper(keeper) => {
                let page = keeper
                    .page(after, most)
                    .await
                    .map_err(|closed| Status::unavailable(closed.to_string()))?;
                page.map_err(|error| status(&error))
            }
            Self::Shelf(shelf) => match &**shelf {
                Shelf::Folder(book) => {
                    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                    book.page(after, most).map_err(|error| status(&error))
                }
                Shelf::File(_) => {
                    let why = "a compiled book cannot be exported: it knows its positions by name alone; ask its folder";
                    Err(Status::failed_precondition(why))
                }
            },
        }
    }
}

fn no_book() -> Status {
    Status::failed_precondition("this coordinator has no book; start it with --book DIR")
}
