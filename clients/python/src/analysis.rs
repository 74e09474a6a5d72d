//! Searches in this process.

use std::time::{Duration, Instant};

use kagetsu_game::{Effort, Question};
use kagetsu_search::{Control, Engine, EngineOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::PyAnswer;
use crate::errors::{self, whole};
use crate::position::PyPosition;

/// Time between two looks for Ctrl-C.
const SIGNAL_POLL: Duration = Duration::from_millis(50);

/// Reads the limits of a search; one of them is needed.
pub(crate) fn effort(depth: Option<u8>, nodes: Option<u64>, time: Option<f64>) -> PyResult<Effort> {
    if depth.is_none() && nodes.is_none() && time.is_none() {
        return Err(PyValueError::new_err(
            "give a depth, nodes or time (in seconds)",
        ));
    }
    if depth.is_some_and(|depth| !(1..=Effort::MAX_DEPTH).contains(&depth)) {
        return Err(PyValueError::new_err("depth: 1 to 100"));
    }
    let time = time
        .map(|time| {
            Duration::try_from_secs_f64(time)
                .ok()
                .filter(|time| !time.is_zero())
        })
        .map(|time| time.ok_or_else(|| PyValueError::new_err("time: seconds above 0")))
        .transpose()?;
    Ok(Effort { depth, nodes, time })
}

/// Searches a position and returns the values of its best moves. Ctrl-C ends the search.
#[pyfunction]
#[pyo3(signature = (position, *, depth = None, nodes = None, time = None, top = 1, threads = 1, table_mib = 64))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    position: &PyPosition,
    #[pyo3(from_py_with = whole)] depth: Option<u8>,
    #[pyo3(from_py_with = whole)] nodes: Option<u64>,
    time: Option<f64>,
    #[pyo3(from_py_with = whole)] top: u16,
    #[pyo3(from_py_with = whole)] threads: usize,
    #[pyo3(from_py_with = whole)] table_mib: usize,
) -> PyResult<PyAnswer> {
    if !Engine::supports(position.0.variant()) {
        return Err(errors::position(format!(
            "no search knows {}",
            position.0.variant()
        )));
    }
    if !(1..=1 << 20).contains(&table_mib) || !(1..=1_024).contains(&threads) {
        return Err(PyValueError::new_err(
            "threads: 1 to 1024; table_mib: 1 to 1048576",
        ));
    }
    let question = Question {
        width: top,
        ..Question::new(position.0.clone(), effort(depth, nodes, time)?)
    };
    let options = EngineOptions {
        threads,
        table_bytes: table_mib << 20,
        ..EngineOptions::default()
    };
    let mut engine =
        Engine::new(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let control = Control::new();
    let begun = Instant::now();
    let search = {
        let (question, control) = (question.clone(), control.clone());
        move || engine.answer(&question, &control, &mut |_| {})
    };
    let running = std::thread::spawn(search);
    while !running.is_finished() {
        py.detach(|| {
            std::thread::sleep(SIGNAL_POLL.min(begun.elapsed().max(Duration::from_millis(1))))
        });
        if let Err(interrupt) = py.check_signals() {
            control.stop();
            py.detach(|| drop(running.join()));
            return Err(interrupt);
        }
    }
    let answer = py.detach(|| running.join());
    let answer = answer.map_err(|_| PyValueError::new_err("the search has failed"))?;
    let answer = answer.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyAnswer {
        position: question.position,
        answer,
        value: None,
        time_ms: begun.elapsed().as_millis() as u64,
    })
}
