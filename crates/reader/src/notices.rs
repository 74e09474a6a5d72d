use std::fmt::Display;
use std::io::{self, Write};

use kagetsu_book::Notice;

/// Writes the notices of an opened book to stderr.
///
/// # Errors
/// If stderr is closed.
pub(crate) fn write_notices(book: impl Display, notices: &[Notice]) -> io::Result<()> {
    for notice in notices {
        writeln!(io::stderr(), "kagetsu: book {book}: {notice}")?;
    }
    Ok(())
}
