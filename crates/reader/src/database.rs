//! A book whose journal is in PostgreSQL, opened to be read.

use std::path::PathBuf;

use anyhow::{Context, Result};
use kagetsu_book::{Book, BookOptions};
use kagetsu_files::user_folder;
use kagetsu_postgres::BookUrl;

use crate::notices::write_notices;

/// The environment variable with the folder for the indexes of books in databases.
const CACHE_VARIABLE: &str = "KAGETSU_CACHE";

/// Opens a book in a database to be read. Its index is kept in a folder of the user, so that the
/// next command reads only what is new.
pub(crate) fn open(text: &str) -> Result<Book> {
    let url = BookUrl::parse(text)?;
    let cache = folder(&url)?;
    let journal = kagetsu_postgres::open(&url)?;
    let (book, notices) = Book::open_journal(&cache, journal, &BookOptions::default())?;
    write_notices(&url, &notices)?;
    Ok(book)
}

/// Returns the folder for the index of a book.
fn folder(url: &BookUrl) -> Result<PathBuf> {
    let given = std::env::var_os(CACHE_VARIABLE).map(PathBuf::from);
    let base = given.or_else(|| user_folder("XDG_CACHE_HOME", ".cache"));
    let base = base.with_context(|| {
        format!("{url} needs a folder for its index: give one as {CACHE_VARIABLE}")
    })?;
    let name: String = url
        .to_string()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    Ok(base.join(name))
}
