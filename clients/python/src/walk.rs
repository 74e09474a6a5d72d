//! Iteration over the positions of a book.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use kagetsu_book::{Entry, Place};
use kagetsu_compiled::Compiled;
use kagetsu_game::Key;
use kagetsu_reader::{Found, Source};
use pyo3::exceptions::PyValueError;
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
pub(crate) struct PositionWalk {
    /// Positions to return where the book has them, with the moves that lead to them.
    queue: VecDeque<kagetsu_game::Position>,
    /// The keys of all that were queued.
    seen: HashSet<Key>,
    /// The place of the last entry that was listed, and entries that were read ahead; `None` if
    /// only positions behind roots are wanted.
    pages: Option<(Option<Place>, VecDeque<Entry>)>,
    /// Positions so far.
    found: u64,
}

impl PositionWalk {
    /// Begins a walk from the roots of a book, and then lists the positions that it missed.
    pub(crate) fn whole(roots: impl Iterator<Item = kagetsu_game::Position>) -> Self {
        let pages = Some((None, VecDeque::new()));
        Self {
            pages,
            ..Self::behind(roots)
        }
    }

    /// Begins a walk from positions that a book may have.
    pub(crate) fn behind(roots: impl Iterator<Item = kagetsu_game::Position>) -> Self {
        let mut seen = HashSet::new();
        let queue = roots.filter(|root| seen.insert(root.key())).collect();
        Self {
            queue,
            seen,
            pages: None,
            found: 0,
        }
    }

    fn next(&mut self, source: &Source) -> PyResult<Option<PyAnswer>> {
        let Self { queue, seen, .. } = self;
        if let Source::File(file) = source {
            return next_of_compiled(&file.newest(), queue, seen).map_err(errors::book);
        }
        while let Some(position) = queue.pop_front() {
            let Some(found) = source
                .find(&position)
                .map_err(|error| errors::view(error.into()))?
            else {
                continue;
            };
            for (m, _) in found.answer.verdicts() {
                let after = position.play(*m).ok();
                queue.extend(after.filter(|after| seen.insert(after.key())));
            }
            return Ok(Some(answer_of(position, found)));
        }
        let Some((place, ahead)) = &mut self.pages else {
            return Ok(None);
        };
        loop {
            if ahead.is_empty() {
                let page = source.page(*place, PAGE).map_err(errors::view)?;
                *place = page.last().map(|last| Place::of(&last.position)).or(*place);
                ahead.extend(page);
            }
            let Some(entry) = ahead.pop_front() else {
                return Ok(None);
            };
            if self.seen.insert(entry.position.key()) {
                // Stones can be placed in turn; pieces cannot.
                let variant = entry.position.variant();
                let line = entry.position.line();
                let placed =
                    line.and_then(|line| kagetsu_game::Position::new(variant, None, &line).ok());
                let shown = placed.filter(|placed| placed.key() == entry.position.key());
                let position = shown.unwrap_or_else(|| entry.position.clone());
                let found = source
                    .find(&position)
                    .map_err(|error| errors::view(error.into()))?;
                return Ok(found.map(|found| answer_of(position, found)));
            }
        }
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
            let next = walk.next(&source)?;
            walk.found += u64::from(next.is_some());
            if next.is_none() && walk.found == 0 && source.positions().is_some_and(|all| all > 0) {
                return Err(PyValueError::new_err(
                    "the walk met no position of the book: give roots that it holds",
                ));
            }
            Ok(next)
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
