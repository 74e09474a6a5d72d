//! Checks of a book, by the code that opens it at the start of a program.

use std::path::Path;

use kagetsu_book::{Book, BookError, BookOptions, OpenError};

use super::{HealthFinding, Level};

/// Opens a book's folder to read it.
pub(super) fn folder(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    match Book::open_to_read(path, &BookOptions::default()) {
        Ok((book, _)) => HealthFinding::new(
            Level::Ok,
            &subject,
            format!("{} positions, not open in another process", book.len()),
        ),
        Err(BookError::Open(OpenError::Held { holder, .. })) => {
            HealthFinding::new(Level::Ok, &subject, format!("open in process {holder}"))
        }
        // The messages name the way out.
        Err(error) => HealthFinding::new(Level::Fault, subject, error),
    }
}
