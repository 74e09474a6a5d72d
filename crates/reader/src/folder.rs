use std::path::Path;

use anyhow::{Result, bail};
use kagetsu_api::StatisticsJson;
use kagetsu_book::{Book, CheckReport, Overview};
use kagetsu_game::{Answer, Position};
use kagetsu_games::{FoundGames, GameFilter, GameStore};
use kagetsu_postgres::BookUrl;

use crate::open_folder::read_book;
use crate::reader::BookReader;

/// A book folder as it was when it was opened.
pub struct FolderReader {
    book: Book,
    /// Whether the journal is in a database.
    is_in_database: bool,
}

impl FolderReader {
    /// Opens the folder for reading. Several processes may read one folder at the same time, and
    /// the user needs no permission to write to it. Notices go to stderr.
    ///
    /// # Errors
    /// If the folder is no book, or a process is changing it.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            book: read_book(path)?,
            is_in_database: path.to_str().is_some_and(BookUrl::is_one),
        })
    }
}

impl BookReader for FolderReader {
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        Ok(self.book.lookup(position)?.map(|entry| entry.answer))
    }

    fn lookup_searched(&mut self, position: &Position) -> Result<Option<Answer>> {
        Ok(self.book.lookup(position)?.map(|entry| entry.facts))
    }

    fn overview(&mut self) -> Result<Overview> {
        Ok(self.book.overview()?)
    }

    fn statistics(&mut self) -> Result<StatisticsJson> {
        Ok(StatisticsJson::graded(&self.book.grades()?))
    }

    fn bytes(&self) -> Result<Option<u64>> {
        Ok(Some(self.book.bytes()?))
    }

    fn positions(&self) -> Option<u64> {
        Some(self.book.len())
    }

    fn check(&mut self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        Ok(self.book.check(progress)?)
    }

    fn contents(&mut self, _: &mut dyn FnMut(u64)) -> Result<&Book> {
        Ok(&self.book)
    }

    fn games(&mut self, at: &Position, filter: &GameFilter, top: u32) -> Result<FoundGames> {
        if self.is_in_database {
            bail!(
                "a book in a database has no games: give the folder into which they were imported"
            );
        }
        match GameStore::open(self.book.path())? {
            Some(store) => Ok(store.find(at, filter, top)?),
            None => Ok(FoundGames::default()),
        }
    }
}
