//! Positions and the rules.

use std::hash::{DefaultHasher, Hash, Hasher};

use kagetsu_game::{Outcome, Side, Variant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// A position of a game. It never changes; `play` returns another one.
#[pyclass(name = "Position", frozen, module = "kagetsu")]
pub struct PyPosition(pub(crate) kagetsu_game::Position);

/// Returns the names of all variants.
#[pyfunction]
pub(crate) fn variants() -> Vec<String> {
    Variant::all().map(|variant| variant.to_string()).collect()
}

fn side(text: &str) -> PyResult<Side> {
    let unknown = || format!("side: '{text}' is neither 'first' nor 'second'");
    Side::named(text).ok_or_else(|| PyValueError::new_err(unknown()))
}

#[pymethods]
impl PyPosition {
    #[new]
    #[pyo3(signature = (variant, moves = "", *, fen = None, board = None, side = None))]
    fn new(
        variant: &str,
        moves: &str,
        fen: Option<&str>,
        board: Option<&str>,
        side: Option<&str>,
    ) -> PyResult<Self> {
        let variant: Variant = variant.parse().map_err(errors::position)?;
        let side = side.map(self::side).transpose()?;
        let start = match (fen, board) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("give either fen or board, not both"));
            }
            (Some(fen), None) => kagetsu_game::Position::from_fen(variant, fen),
            (None, Some(board)) => {
                kagetsu_game::Position::from_board(variant, &board.replace('/', "\n"), side)
            }
            (None, None) => Ok(kagetsu_game::Position::start(variant)),
        };
        let start = start.map_err(errors::position)?;
        if board.is_none() && side.is_some_and(|side| side != start.side()) {
            return Err(PyValueError::new_err(
                "side belongs to board; a FEN and moves say themselves which side is to move",
            ));
        }
        start.play_line(moves).map(Self).map_err(errors::position)
    }

    /// The name of the variant.
    #[getter]
    fn variant(&self) -> String {
        self.0.variant().to_string()
    }

    /// The side to move.
    #[getter]
    fn side(&self) -> String {
        self.0.side().to_string()
    }

    /// The moves that were played from the start, FEN or board.
    #[getter]
    fn moves(&self) -> Vec<String> {
        self.names(self.0.moves())
    }

    /// The key: 32 hexadecimal digits, the same for all symmetries and orders of moves.
    #[getter]
    fn key(&self) -> String {
        self.0.key().to_string()
    }

    /// The key as 16 bytes in little-endian order, as `Book.lookup_keys` takes it.
    #[getter]
    fn key_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.key().0.to_le_bytes())
    }

    /// The FEN; None for a game without FEN.
    #[getter]
    fn fen(&self) -> Option<String> {
        self.0.fen().ok()
    }

    /// The rows of a board of stones from the top, with `X` for the first player's stones, `O` for
    /// the second's and `.` for empty points; None for a game with pieces.
    #[getter]
    fn board(&self) -> Option<Vec<String>> {
        if !self.0.variant().places_stones() {
            return None;
        }
        let drawing = self.0.draw();
        // The last line of a drawing holds the column letters.
        let lines = drawing.lines().collect::<Vec<_>>();
        let rows = lines.split_last().map_or(&[][..], |(_, rows)| rows);
        let is_point = |letter: &char| matches!(letter, 'X' | 'O' | '.');
        Some(
            rows.iter()
                .map(|row| row.chars().filter(is_point).collect())
                .collect(),
        )
    }

    /// How the game has ended: 'first', 'second' or 'draw'; None while it goes on.
    #[getter]
    fn outcome(&self) -> Option<String> {
        self.0.outcome().map(|outcome| match outcome {
            Outcome::Win(winner) => winner.to_string(),
            Outcome::Draw => "draw".into(),
        })
    }

    /// Returns the legal moves.
    fn legal_moves(&self) -> Vec<String> {
        self.names(&self.0.legal_moves())
    }

    /// Returns the points that renju forbids to Black, with the reasons.
    fn forbidden_points(&self) -> Vec<(String, &'static str)> {
        let forbidden = self.0.forbidden_moves().into_iter();
        forbidden
            .map(|(m, reason)| (self.0.write_move(m), reason))
            .collect()
    }

    /// Reads one move in any notation of the game, and returns it as Kagetsu writes it.
    fn parse_move(&self, text: &str) -> PyResult<String> {
        let parsed = self.0.parse_move(text).map_err(errors::position)?;
        Ok(self.0.write_move(parsed))
    }

    /// Returns the position after some moves.
    fn play(&self, moves: &str) -> PyResult<Self> {
        self.0.play_line(moves).map(Self).map_err(errors::position)
    }

    /// The board as text.
    fn __str__(&self) -> String {
        self.0.draw()
    }

    fn __repr__(&self) -> String {
        let start = match (self.0.setup(), self.0.fen()) {
            (Some(_), Ok(fen)) => format!(", fen={fen:?}"),
            (Some(_), Err(_)) => format!(", key={:?}", self.key()),
            (None, _) => format!(", {:?}", self.moves().join(" ")),
        };
        format!("Position({:?}{start})", self.variant())
    }

    /// Equal positions have the same stones or pieces on the same points, and the same side moves.
    fn __eq__(&self, other: &Self) -> bool {
        self.0.variant() == other.0.variant()
            && self.0.side() == other.0.side()
            && self.0.key() == other.0.key()
            && self.0.stones() == other.0.stones()
            && self.0.fen().ok() == other.0.fen().ok()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.key().hash(&mut hasher);
        hasher.finish()
    }

    /// Supports pickle and copy.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let restore = py.import("kagetsu._native")?.getattr("Position")?;
        let restore = restore.getattr("_restore")?;
        let setup = self.0.setup().map(|packed| packed.0.clone());
        let moves = self.moves().join(" ");
        (restore, (self.variant(), setup, moves))
            .into_pyobject(py)
            .map(Bound::into_any)
    }

    #[staticmethod]
    fn _restore(variant: &str, setup: Option<Vec<u8>>, moves: &str) -> PyResult<Self> {
        let variant: Variant = variant.parse().map_err(errors::position)?;
        let start = match setup {
            Some(bytes) => kagetsu_game::Position::unpack(variant, kagetsu_game::Packed(bytes))
                .map_err(errors::position)?,
            None => kagetsu_game::Position::start(variant),
        };
        start.play_line(moves).map(Self).map_err(errors::position)
    }
}

impl PyPosition {
    fn names(&self, moves: &[kagetsu_game::Move]) -> Vec<String> {
        moves.iter().map(|&m| self.0.write_move(m)).collect()
    }
}
