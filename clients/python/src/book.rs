//! Books on this machine: compiled files and folders.

use std::path::PathBuf;
use std::sync::Arc;

use kagetsu_compiled::Compact;
use kagetsu_game::{Key, Variant};
use kagetsu_reader::Source;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use crate::answer::{PyAnswer, PyValue};
use crate::choice::{choice, picked};
use crate::errors::{self, whole};
use crate::position::PyPosition;
use crate::source::{PyBookSource, compiled, read_view};
use crate::walk::{PositionWalk, PyPositions};

/// Bytes of one row of `Book._find_many`: found, proof, best move, depth, score, plies.
const ROW: usize = 10;

/// A book file or folder. It can be used by any number of threads at once.
#[pyclass(name = "Book", frozen, subclass, module = "kagetsu")]
pub struct PyBook {
    path: PathBuf,
    source: Arc<PyBookSource>,
}

/// Reads a key: 32 hexadecimal digits, or 16 bytes in little-endian order.
fn key(key: &Bound<'_, PyAny>) -> PyResult<Key> {
    if let Ok(text) = key.extract::<PyBackedStr>() {
        return text.parse().map_err(errors::position);
    }
    let bytes = key.cast::<PyBytes>().map_err(|_| {
        PyTypeError::new_err("a key is a str of 32 hexadecimal digits, or 16 bytes")
    })?;
    let bytes = <[u8; 16]>::try_from(bytes.as_bytes())
        .map_err(|_| PyValueError::new_err("a key as bytes has 16 of them"))?;
    Ok(Key(u128::from_le_bytes(bytes)))
}

#[pymethods]
impl PyBook {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let source = py.detach(|| kagetsu_reader::open_files(&path));
        let source = Arc::new(PyBookSource::new(source.map_err(errors::reading)?));
        Ok(Self { path, source })
    }

    /// The path of the book.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Whether the book is a compiled file.
    #[getter]
    fn is_compiled(&self) -> bool {
        let source = self.source.open();
        source.is_ok_and(|source| matches!(*source, Source::File(_)))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.source.open()?.positions().unwrap_or_default() as usize)
    }

    /// Looks up a position, in any orientation and reached by any order of moves.
    fn lookup(&self, position: &PyPosition) -> PyResult<Option<PyAnswer>> {
        self.source.lookup(&position.0)
    }

    fn __contains__(&self, position: &PyPosition) -> PyResult<bool> {
        Ok(self.source.lookup(&position.0)?.is_some())
    }

    /// Looks up many positions and releases Python's lock meanwhile.
    fn lookup_many(
        &self,
        py: Python<'_>,
        positions: Vec<PyRef<'_, PyPosition>>,
    ) -> PyResult<Vec<Option<PyAnswer>>> {
        let positions: Vec<_> = positions
            .iter()
            .map(|position| position.0.clone())
            .collect();
        py.detach(|| {
            let answers = positions
                .iter()
                .map(|position| self.source.lookup(position));
            answers.collect()
        })
    }

    /// Returns the value of the position with a key; None if the book lacks it.
    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<PyValue>> {
        let (source, key) = (self.source.open()?, self::key(key)?);
        let compiled = compiled(&source)?;
        let found = compiled.find(key).map_err(errors::book)?;
        Ok(found.map(|found| PyValue::derived(&found.value())))
    }

    /// Looks up keys of 16 bytes each; the rows are what `lookup_keys` describes.
    fn _find_many<'py>(&self, py: Python<'py>, keys: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        if !keys.len().is_multiple_of(16) {
            return Err(PyValueError::new_err("each key has 16 bytes"));
        }
        let source = self.source.open()?;
        let compiled = compiled(&source)?;
        let rows = py.detach(|| {
            let mut rows = vec![0; keys.len() / 16 * ROW];
            for (key, row) in keys
                .as_chunks::<16>()
                .0
                .iter()
                .zip(rows.chunks_exact_mut(ROW))
            {
                if let Some(found) = compiled.find(Key(u128::from_le_bytes(*key)))? {
                    write_row(&found, row);
                }
            }
            Ok(rows)
        });
        let rows = rows.map_err(|error: kagetsu_book::BookError| errors::book(error))?;
        Ok(PyBytes::new(py, &rows))
    }

    /// Chooses a move as an engine would; None if the book has none.
    #[pyo3(signature = (position, temperature = 0.0, seed = None, min_depth = 0))]
    fn pick(
        &self,
        position: &PyPosition,
        temperature: f64,
        #[pyo3(from_py_with = whole)] seed: Option<u64>,
        #[pyo3(from_py_with = whole)] min_depth: u8,
    ) -> PyResult<Option<String>> {
        let choice = choice(temperature, seed, min_depth)?;
        Ok(picked(self.source.lookup(&position.0)?, &choice))
    }

    /// Reads a view of the registry with options as JSON; None where the book has nothing to show.
    #[pyo3(signature = (name, position, options))]
    fn _read(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<&PyPosition>,
        options: &str,
    ) -> PyResult<Option<String>> {
        let (source, position) = (self.source.open()?, position.map(|position| &position.0));
        py.detach(|| read_view(&source, name, position, options))
    }

    /// Iterates over the positions, as answers: those behind `roots` (by default the roots of the
    /// book and the starts of all games) with the moves that lead to them, then, without `roots`,
    /// the other positions of a folder. A compiled book holds no list of its positions, so its walk
    /// goes through all legal moves.
    #[pyo3(signature = (roots = Vec::new()))]
    fn positions(&self, roots: Vec<PyRef<'_, PyPosition>>) -> PyResult<PyPositions> {
        let walk = if roots.is_empty() {
            let overview = self
                .source
                .open()?
                .overview()
                .map_err(|error| errors::view(error.into()))?;
            let known = overview.variants.into_iter().flat_map(|one| one.roots);
            let starts = Variant::all().map(kagetsu_game::Position::start);
            PositionWalk::whole(known.map(|root| root.position).chain(starts))
        } else {
            PositionWalk::behind(roots.iter().map(|root| root.0.clone()))
        };
        Ok(PyPositions::new(Arc::clone(&self.source), walk))
    }

    fn __iter__(&self) -> PyResult<PyPositions> {
        self.positions(Vec::new())
    }

    /// Closes a folder and removes its temporary files. A compiled book needs no closing.
    fn close(&self) {
        self.source.close();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!("Book({:?})", self.path.display().to_string())
    }
}

/// Writes the row of a position that was found.
fn write_row(found: &Compact<'_>, row: &mut [u8]) {
    let value = found.value();
    let proof = value.proof.map_or(0, |proof| match proof.claim {
        kagetsu_game::Claim::Draw => 1,
        kagetsu_game::Claim::Loss => 2,
        kagetsu_game::Claim::Win => 3,
    });
    row[0] = 1;
    row[1] = proof;
    let best = value.best.map_or(u16::MAX, kagetsu_game::Move::code);
    row[2..4].copy_from_slice(&best.to_le_bytes());
    row[4..6].copy_from_slice(&value.depth.to_le_bytes());
    row[6..8].copy_from_slice(&value.score.raw().to_le_bytes());
    let plies = value.proof.map_or(0, |proof| proof.plies);
    row[8..10].copy_from_slice(&plies.to_le_bytes());
}
