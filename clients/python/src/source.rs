//! An open book behind `Book` and its iterators.

use std::sync::{Mutex, PoisonError};

use kagetsu_book::Derived;
use kagetsu_compiled::Compiled;
use pyo3::prelude::*;

use crate::answer::PyAnswer;
use crate::errors;

/// A book that is open.
pub(crate) enum PyBookSource {
    /// A compiled book.
    Compiled(Box<Compiled>),
    /// A folder; `None` after it was closed.
    Folder(Mutex<Option<Box<kagetsu_book::Book>>>),
}

impl PyBookSource {
    /// Calls `f` with the folder's book.
    pub(crate) fn with_folder<T>(
        folder: &Mutex<Option<Box<kagetsu_book::Book>>>,
        f: impl FnOnce(&kagetsu_book::Book) -> Result<T, kagetsu_book::BookError>,
    ) -> PyResult<T> {
        let guard = folder.lock().unwrap_or_else(PoisonError::into_inner);
        let book = guard
            .as_ref()
            .ok_or_else(|| errors::book("the book is closed"))?;
        f(book).map_err(errors::book)
    }

    /// Looks up a position.
    pub(crate) fn lookup(&self, position: &kagetsu_game::Position) -> PyResult<Option<PyAnswer>> {
        let found = match self {
            Self::Compiled(compiled) => compiled.lookup(position).map_err(errors::book)?,
            Self::Folder(folder) => {
                let entry = Self::with_folder(folder, |book| book.lookup(position))?;
                entry.map(|entry| (entry.answer, entry.derived))
            }
        };
        Ok(found.map(|(answer, derived)| answer_of(position.clone(), answer, derived)))
    }
}

/// Returns the answer of a book about a position.
pub(crate) fn answer_of(
    position: kagetsu_game::Position,
    answer: kagetsu_game::Answer,
    derived: Derived,
) -> PyAnswer {
    PyAnswer {
        position,
        answer,
        value: Some(derived),
        time_ms: 0,
    }
}
