use std::io;
use std::path::{Path, PathBuf};

/// The reason why a book could not be opened or copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The path does not exist.
    #[error("{}", missing(.0))]
    Missing(PathBuf),
    /// The path is a URL, here without its password, but a folder is needed.
    #[error(
        "{0} is a URL, and this needs the folder of a book; on the machine of a coordinator \
         `kagetsu backup` copies its folder while it works, `kagetsu journal pull` copies a database"
    )]
    Url(String),
    /// The folder is not empty and has no book.
    #[error(
        "{0} is not a book: it has no journal; give the folder of a book, or to make one an empty or a new folder"
    )]
    NotABook(PathBuf),
    /// The folder has a journal of its own, and a cache is needed.
    #[error("{0} is the folder of a book; give --cache an empty or a new folder")]
    IsBook(PathBuf),
    /// The operation rewrites a journal, which only a folder's book allows.
    #[error(
        "the journal is at {0}, and this rewrites a journal in a folder; \
         `kagetsu journal pull` makes a folder of the book"
    )]
    NeedsFolder(String),
    /// The path is a file, but a folder is needed.
    #[error(
        "{0} is a file, and this needs the folder of a book: a compiled book is only for looking up"
    )]
    IsFile(PathBuf),
    /// The target of a backup is the book itself, or lies in it.
    #[error("{to} is the book {from} itself or lies in it; a copy of it needs another folder")]
    Itself {
        /// The book.
        from: PathBuf,
        /// The same folder, perhaps under another name, or one below it.
        to: PathBuf,
    },
    /// The target of a backup holds another book.
    #[error(
        "{to} holds another book than {from}, or has more than it; give an empty or a new folder"
    )]
    OtherBook {
        /// The book.
        from: PathBuf,
        /// The target.
        to: PathBuf,
    },
    /// Another process has the book open.
    #[error(
        "the book {path} is open in process {holder}; stop that process, or `kagetsu backup --book {path} --to COPY` and \
         use the copy"
    )]
    Held {
        /// The folder.
        path: PathBuf,
        /// The id of that process, as far as it is known.
        holder: String,
    },
    /// The lock file cannot be opened for writing.
    #[error(
        "cannot lock {path}: {error}; a change needs the right to write there: give it, or \
         change a copy of the folder"
    )]
    NoLock {
        /// The lock file.
        path: PathBuf,
        /// The answer of the operating system.
        error: io::Error,
    },
}

/// Returns the message for a missing path; a name that ends with `.kbk` belongs to a compiled book.
fn missing(path: &Path) -> String {
    let shown = path.display();
    if path.extension().is_some_and(|end| end == "kbk") {
        return format!(
            "there is no compiled book at {shown}; `kagetsu compile --book DIR --out {shown}` makes one"
        );
    }
    format!("there is no book at {shown}; `kagetsu build --book {shown}` makes one")
}

/// Returns an address without its password, for messages. Several hosts may stand in it, so it is
/// no URL for a parser of URLs.
#[must_use]
pub fn without_password(address: &str) -> String {
    let (base, query) = match address.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (address, None),
    };
    let base = match base.rsplit_once('@') {
        Some((login, hosts)) => {
            let (scheme, login) = login.split_once("://").unwrap_or(("postgres", login));
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            format!("{scheme}://{user}@{hosts}")
        }
        None => base.to_string(),
    };
    let Some(query) = query else { return base };
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.starts_with("password="))
        .collect();
    format!("{base}?{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn addresses_are_shown_without_password() {
        for (address, shown) in [
            (
                "postgres://a:b@db/books?book=h8",
                "postgres://a@db/books?book=h8",
            ),
            (
                "postgres://a:b@one:1,two:2/books",
                "postgres://a@one:1,two:2/books",
            ),
            ("postgres://a:b@c@db/books", "postgres://a@db/books"),
            (
                "postgres://db/b?password=x&book=a",
                "postgres://db/b?book=a",
            ),
            ("http://one.example:7615", "http://one.example:7615"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
