//! The folders of a user, and the books that are installed in one of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable with the folder of installed books.
const BOOKS_VARIABLE: &str = "KAGETSU_BOOKS";

/// Returns a folder of the user for this project: below that of the XDG variable, its default below
/// the home, or `%LOCALAPPDATA%`.
#[must_use]
pub fn user_folder(xdg: &str, below_home: &str) -> Option<PathBuf> {
    let inside = |folder, name: &str| Some(PathBuf::from(std::env::var_os(folder)?).join(name));
    inside(xdg, "kagetsu")
        .or_else(|| Some(inside("HOME", below_home)?.join("kagetsu")))
        .or_else(|| inside("LOCALAPPDATA", "kagetsu"))
}

/// Returns the folder of installed books, which may not exist: `KAGETSU_BOOKS`, else `books` in the
/// user's folder of data.
#[must_use]
pub fn books_folder() -> Option<PathBuf> {
    let given = std::env::var_os(BOOKS_VARIABLE).map(PathBuf::from);
    given.or_else(|| Some(user_folder("XDG_DATA_HOME", ".local/share")?.join("books")))
}

/// Returns the installed books, sorted by name.
#[must_use]
pub fn installed_books() -> Vec<PathBuf> {
    let entries = books_folder().map(std::fs::read_dir);
    let paths = entries.into_iter().flatten().flatten().flatten();
    let mut books: Vec<PathBuf> = paths
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("kbk")))
        .collect();
    books.sort();
    books
}

/// Returns the installed book of a name; `None` where something here has that name.
#[must_use]
pub fn installed_book(name: &Path) -> Option<PathBuf> {
    let is_name = name.file_name() == Some(name.as_os_str()) && !name.exists();
    let books = if is_name {
        installed_books()
    } else {
        Vec::new()
    };
    books
        .into_iter()
        .find(|book| book.file_stem() == Some(name.as_os_str()))
}
