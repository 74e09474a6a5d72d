//! The choice of one move as an engine makes it, of a book here or on a server.

use kagetsu_book::Choice;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::PyAnswer;

/// Reads how to choose.
///
/// # Errors
/// A `ValueError` for a temperature that is negative or no number.
pub(crate) fn choice(temperature: f64, seed: Option<u64>, min_depth: u8) -> PyResult<Choice> {
    let choice = Choice {
        temperature,
        seed,
        min_depth,
        margin: None,
    };
    if choice.is_possible() {
        Ok(choice)
    } else {
        Err(PyValueError::new_err(
            "temperature: a number from 0 on is needed",
        ))
    }
}

/// Returns the chosen move of an answer; `None` without an answer or a move that counts.
pub(crate) fn picked(found: Option<PyAnswer>, choice: &Choice) -> Option<String> {
    let found = found?;
    let (m, _) = choice.pick(&found.answer)?;
    Some(found.position.write_move(*m))
}
