//! Answers: the value of a position and of its moves.

use kagetsu_api::{AnswerJson, Day, best_first, is_unknown};
use kagetsu_book::{Choice, Derived};
use kagetsu_game::{Bound, Move, Proof, Score, Verdict};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::position::PyPosition;

/// The value of a position, from the view of the side to move.
#[pyclass(name = "Value", frozen, eq, module = "kagetsu")]
#[derive(Clone, PartialEq)]
pub struct PyValue {
    /// Centi-units; None for a forced win or loss, and where nothing is known.
    #[pyo3(get)]
    score: Option<i16>,
    /// Plies to a forced win.
    #[pyo3(get)]
    win_in: Option<u16>,
    /// Plies to a forced loss.
    #[pyo3(get)]
    loss_in: Option<u16>,
    /// Plies from the position to the end of the line that the value comes from.
    #[pyo3(get)]
    depth: u16,
    /// 'none', 'win', 'loss' or 'draw'.
    #[pyo3(get)]
    proof: String,
    /// How it is proven, as 'vcf' or 'tree'; None without a proof.
    #[pyo3(get)]
    proof_kind: Option<String>,
    /// Whether a move without a value may be better than all others.
    #[pyo3(get)]
    is_open: bool,
}

impl PyValue {
    fn new(score: Option<Score>, proof: Option<Proof>, depth: u16, is_open: bool) -> Self {
        let score_or = |f: fn(Score) -> Option<u16>| score.and_then(f);
        Self {
            score: score.filter(|score| !score.is_mate()).map(Score::raw),
            win_in: score_or(Score::win_plies),
            loss_in: score_or(Score::loss_plies),
            depth,
            proof: proof.map_or_else(|| "none".into(), |proof| proof.claim.to_string()),
            proof_kind: proof.map(|proof| proof.kind.to_string()),
            is_open,
        }
    }

    pub(crate) fn derived(derived: &Derived) -> Self {
        let is_known = derived.best.is_some() || derived.proof.is_some();
        let score = is_known.then_some(derived.score);
        Self::new(score, derived.proof, derived.depth, derived.is_open)
    }
}

#[pymethods]
impl PyValue {
    fn __repr__(&self) -> String {
        format!(
            "Value({})",
            written(self.score, self.win_in, self.loss_in, None)
        )
    }
}

/// The knowledge about one move. Values are from the view of the side that makes the move.
#[pyclass(name = "MoveValue", frozen, eq, module = "kagetsu", get_all)]
#[derive(Clone, PartialEq)]
pub struct PyMoveValue {
    /// The move.
    r#move: String,
    /// Centi-units; None for a forced win or loss, and where nothing is known.
    score: Option<i16>,
    /// Plies to a forced win.
    win_in: Option<u16>,
    /// Plies to a forced loss.
    loss_in: Option<u16>,
    /// 'exact', 'lower' (at least the score) or 'upper' (at most the score).
    bound: String,
    /// Depth of the search in plies.
    depth: u8,
    /// Positions that the search visited.
    nodes: u64,
    /// The expected play, this move first.
    line: Vec<String>,
    /// 'none', 'win', 'loss' or 'draw'.
    proof: String,
    /// How it is proven; None without a proof.
    proof_kind: Option<String>,
    /// The engine that valued the move.
    engine: String,
    /// The day of the search, as in '2026-11-24'.
    date: String,
}

impl PyMoveValue {
    fn new(position: &kagetsu_game::Position, m: Move, verdict: &Verdict) -> Self {
        let score = (!is_unknown(verdict)).then_some(verdict.score);
        let value = PyValue::new(score, verdict.proof, 0, false);
        Self {
            r#move: position.write_move(m),
            score: value.score,
            win_in: value.win_in,
            loss_in: value.loss_in,
            bound: verdict.bound.to_string(),
            depth: verdict.depth,
            nodes: verdict.nodes,
            line: verdict
                .line
                .iter()
                .map(|&m| position.write_move(m))
                .collect(),
            proof: value.proof,
            proof_kind: value.proof_kind,
            engine: verdict.by.engine.to_string(),
            date: Day(verdict.by.day).to_string(),
        }
    }
}

#[pymethods]
impl PyMoveValue {
    fn __repr__(&self) -> String {
        let value = written(self.score, self.win_in, self.loss_in, Some(&self.bound));
        format!("MoveValue({}, {value}, depth {})", self.r#move, self.depth)
    }
}

/// Writes a value for a person: a bound is never written as a value.
fn written(
    score: Option<i16>,
    win_in: Option<u16>,
    loss_in: Option<u16>,
    bound: Option<&str>,
) -> String {
    let sign = match bound {
        Some("lower") => ">= ",
        Some("upper") => "<= ",
        _ => "",
    };
    match (score, win_in, loss_in) {
        (Some(score), ..) => format!("{sign}{:+.2}", f64::from(score) / 100.0),
        (_, Some(plies), _) => format!("{sign}win in {plies}"),
        (.., Some(plies)) => format!("{sign}loss in {plies}"),
        _ => "unknown".into(),
    }
}

/// The knowledge of a book or a search about a position: a sequence of moves, best first.
#[pyclass(name = "Answer", frozen, sequence, module = "kagetsu")]
pub struct PyAnswer {
    pub(crate) position: kagetsu_game::Position,
    pub(crate) answer: kagetsu_game::Answer,
    pub(crate) value: Option<Derived>,
    pub(crate) time_ms: u64,
}

#[pymethods]
impl PyAnswer {
    /// The position.
    #[getter]
    fn position(&self) -> PyPosition {
        PyPosition(self.position.clone())
    }

    /// The best move; None where no move has more than an upper bound.
    #[getter]
    fn best(&self) -> Option<String> {
        let best = Choice::default().pick(&self.answer);
        best.map(|(m, _)| self.position.write_move(*m))
    }

    /// The value of the position; None where nothing is known.
    #[getter]
    fn value(&self) -> Option<PyValue> {
        if let Some(derived) = &self.value {
            return Some(PyValue::derived(derived));
        }
        let (_, verdict) = Choice::default().pick(&self.answer)?;
        let score = (!is_unknown(verdict)).then_some(verdict.score);
        let is_open = verdict.bound != Bound::Exact;
        Some(PyValue::new(
            score,
            verdict.proof,
            verdict.depth.into(),
            is_open,
        ))
    }

    /// The moves, best first.
    #[getter]
    fn moves(&self) -> Vec<PyMoveValue> {
        let verdicts = best_first(&self.answer).into_iter();
        verdicts
            .map(|(m, verdict)| PyMoveValue::new(&self.position, *m, verdict))
            .collect()
    }

    fn __len__(&self) -> usize {
        self.answer.verdicts().len()
    }

    /// Returns a move by its rank (0 is the best) or its name.
    fn __getitem__(&self, which: &PyRefAny<'_>) -> PyResult<PyMoveValue> {
        let verdicts = best_first(&self.answer);
        let found = if let Ok(name) = which.extract::<String>() {
            let m = self.position.parse_move(&name).ok();
            let found = verdicts.iter().find(|(known, _)| Some(*known) == m);
            found.ok_or_else(|| PyKeyError::new_err(name))?
        } else {
            let rank: isize = which.extract()?;
            let index = if rank < 0 {
                rank + verdicts.len() as isize
            } else {
                rank
            };
            let found = usize::try_from(index)
                .ok()
                .and_then(|index| verdicts.get(index));
            found.ok_or_else(|| PyIndexError::new_err(format!("no move has rank {rank}")))?
        };
        Ok(PyMoveValue::new(&self.position, found.0, &found.1))
    }

    /// Returns the JSON of `kagetsu query --json`.
    fn to_json(&self) -> PyResult<String> {
        let json = AnswerJson::new(&self.position, &self.answer, self.time_ms);
        serde_json::to_string(&json).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Returns the object of `kagetsu query --json` as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<PyRefAny<'py>> {
        py.import("json")?.call_method1("loads", (self.to_json()?,))
    }

    fn __repr__(&self) -> String {
        let best = self.best().unwrap_or_else(|| "no".into());
        format!("Answer({} moves, best {best})", self.__len__())
    }
}

type PyRefAny<'py> = pyo3::Bound<'py, PyAny>;
