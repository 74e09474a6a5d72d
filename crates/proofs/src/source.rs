use anyhow::Result;
use kagetsu_book::{Book, Entry, Place};
use kagetsu_game::Position;

/// A book whose proofs are read.
pub trait ProofSource {
    /// Returns the entry of each position.
    ///
    /// # Errors
    /// If the book cannot be read.
    fn lookup(&self, positions: Vec<Position>) -> Result<Vec<Option<Entry>>>;

    /// Returns the next entries after a place, or the first ones; none at the end of the book.
    ///
    /// # Errors
    /// If the book cannot be read.
    fn page(&self, after: Option<Place>) -> Result<Vec<Entry>>;
}

/// Entries of a page.
const PAGE_ENTRIES: usize = 256;

impl ProofSource for Book {
    fn lookup(&self, positions: Vec<Position>) -> Result<Vec<Option<Entry>>> {
        let found = positions
            .iter()
            .map(|position| Self::lookup(self, position));
        Ok(found.collect::<Result<_, _>>()?)
    }

    fn page(&self, after: Option<Place>) -> Result<Vec<Entry>> {
        Ok(Self::page(self, after, PAGE_ENTRIES)?)
    }
}

/// Returns a new book, which goes with its folder.
#[cfg(test)]
pub(crate) fn empty_book() -> (tempfile::TempDir, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kagetsu_book::BookOptions {
        create: true,
        ..kagetsu_book::BookOptions::default()
    };
    let (book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
    (folder, book)
}
