use std::fmt::Display;
use std::io::{self, Write};

use kagetsu_book::Notice;
use kagetsu_game::quote_message;

/// Writes the notices of an opened book to stderr.
///
/// # Errors
/// If stderr is closed.
pub(crate) fn write_notices(book: impl Display, notices: &[Notice]) -> io::Result<()> {
    for notice in notices {
        let text = format!("kagetsu: book {book}: {notice}");
        writeln!(io::stderr(), "{}", quote_message(&text))?;
    }
    Ok(())
}
