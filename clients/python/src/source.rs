//! An open book behind `Book` and its iterators.

use std::sync::{Arc, PoisonError, RwLock};

use kagetsu_compiled::Compiled;
use kagetsu_reader::{Found, RegisteredView, Source, ViewError};
use pyo3::prelude::*;

use crate::answer::PyAnswer;
use crate::errors;

/// A book; a folder can be closed.
pub(crate) struct PyBookSource(RwLock<Option<Arc<Source>>>);

impl PyBookSource {
    pub(crate) fn new(source: Source) -> Self {
        Self(RwLock::new(Some(Arc::new(source))))
    }

    /// Returns the book.
    ///
    /// # Errors
    /// After it was closed.
    pub(crate) fn open(&self) -> PyResult<Arc<Source>> {
        let source = self.0.read().unwrap_or_else(PoisonError::into_inner);
        source
            .clone()
            .ok_or_else(|| errors::book("the book is closed"))
    }

    /// Closes a folder. A compiled book needs no closing.
    pub(crate) fn close(&self) {
        let mut source = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(source.as_deref(), Some(Source::Folder(_))) {
            *source = None;
        }
    }

    /// Looks up a position.
    pub(crate) fn lookup(&self, position: &kagetsu_game::Position) -> PyResult<Option<PyAnswer>> {
        let found = self.open()?.find(position).map_err(errors::reading)?;
        Ok(found.map(|found| answer_of(position.clone(), found)))
    }
}

/// Returns the compiled file of a book.
///
/// # Errors
/// If the book is none.
pub(crate) fn compiled(source: &Source) -> PyResult<Arc<Compiled>> {
    match source {
        Source::File(file) => Ok(file.newest()),
        _ => Err(errors::book(
            "a folder is asked by positions; `kagetsu compile` makes a book that is asked by keys",
        )),
    }
}

/// Returns the answer of a book about a position.
pub(crate) fn answer_of(position: kagetsu_game::Position, found: Found) -> PyAnswer {
    PyAnswer {
        position,
        answer: found.answer,
        value: found.derived,
        time_ms: 0,
    }
}

/// Returns the views of the registry: the name, whether it needs a position, and a sentence.
#[pyfunction]
pub(crate) fn views() -> Vec<(&'static str, bool, String)> {
    let views = kagetsu_reader::VIEWS.iter();
    views
        .map(|view| (view.name, view.at_position, view.help().0))
        .collect()
}

/// Reads a view of a book: the JSON of its result, `None` where the book has nothing to show.
pub(crate) fn read_view(
    source: &Source,
    name: &str,
    position: Option<&kagetsu_game::Position>,
    options: &str,
) -> PyResult<Option<String>> {
    let view = RegisteredView::named(name).map_err(errors::view)?;
    match view.read(source, position, options) {
        Ok(json) => Ok(Some(json)),
        Err(ViewError::NotHeld { .. } | ViewError::Nothing(_)) => Ok(None),
        Err(error) => Err(errors::view(error)),
    }
}
