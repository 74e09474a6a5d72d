//! Iteration over the positions of a book.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use kagetsu_book::{Entry, Place};
use kagetsu_compiled::Compiled;
use kagetsu_game::Key;
use kagetsu_reader::{Found, Source};
use pyo3::prelude::*;

use crate::answer::PyAnswer;
use crate::errors;
use crate::source::{PyBookSource, answer_of};

/// Entries of a folder that an iterator reads at a time.
const PAGE: usize = 256;

/// An iterator over the positions of a book.
#[pyclass(name = "Positions", frozen, module = "kagetsu")]
pub struct PyPositions {
    source: Arc<PyBookSource>,
    walk: Mutex<PositionWalk>,
}

impl PyPositions {
    pub(crate) fn new(source: Arc<PyBookSource>, walk: PositionWalk) -> Self {
        Self {
            source,
            walk: Mutex::new(walk),
        }
    }
}

/// The state of an iteration.
pub(crate) enum PositionWalk {
    /// The place of the last entry, and entries that were read ahead.
    Folder(Option<Place>, VecDeque<Entry>),
    /// Positions to return, and the keys of all that were queued.
    Compiled(VecDeque<kagetsu_game::Position>, HashSet<Key>),
}

impl PositionWalk {
    /// Begins an iteration over a folder, which lists its positions.
    pub(crate) fn folder() -> Self {
        Self::Folder(None, VecDeque::new())
    }

    /// Begins a walk through a compiled book from positions that it may have.
    pub(crate) fn compiled(roots: impl Iterator<Item = kagetsu_game::Position>) -> Self {
        let mut seen = HashSet::new();
        let queue = roots.filter(|root| seen.insert(root.key())).collect();
        Self::Compiled(queue, seen)
    }
}

#[pymethods]
impl PyPositions {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyAnswer>> {
        py.detach(|| {
            let mut walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
            let source = self.source.open()?;
            match (&*source, &mut *walk) {
                (Source::File(file), PositionWalk::Compiled(queue, seen)) => {
                    next_of_compiled(&file.newest(), queue, seen).map_err(errors::book)
                }
                (source, PositionWalk::Folder(place, ahead)) => {
                    if ahead.is_empty() {
                        let page = source.page(*place, PAGE).map_err(errors::view)?;
                        *place = page.last().map(|last| Place::of(&last.position)).or(*place);
                        ahead.extend(page);
                    }
                    let entry = ahead.pop_front();
                    Ok(entry.map(|entry| answer_of(entry.position.clone(), entry.into())))
                }
                _ => Ok(None),
            }
        })
    }
}

/// Returns the next position that the book has, and queues the positions of the book after it.
fn next_of_compiled(
    compiled: &Compiled,
    queue: &mut VecDeque<kagetsu_game::Position>,
    seen: &mut HashSet<Key>,
) -> Result<Option<PyAnswer>, kagetsu_book::BookError> {
    while let Some(position) = queue.pop_front() {
        let found = compiled.lookup(&position)?;
        if position.outcome().is_none() {
            let moves = position.legal_moves();
            for (&m, child) in moves.iter().zip(position.children(&moves)) {
                let is_new = !seen.contains(&child.key) && compiled.find(child.key)?.is_some();
                if is_new && seen.insert(child.key) {
                    queue.extend(position.play(m));
                }
            }
        }
        if let Some((answer, derived)) = found {
            let found = Found {
                answer,
                facts: None,
                derived: Some(derived),
            };
            return Ok(Some(answer_of(position, found)));
        }
    }
    Ok(None)
}
