use std::ffi::c_int;

use kagetsu_game::{Position, Side, Variant};

/// Cells of the largest board.
pub(crate) const MAX_CELLS: usize = kagetsu_game::gomoku::MAX_CELLS;

/// Why a call fails, as in the header.
#[derive(Debug)]
pub(crate) enum CallError {
    Argument(String),
    Position(String),
    File(String),
    Damaged(String),
    Internal,
}

impl CallError {
    pub(crate) const fn status(&self) -> c_int {
        match self {
            Self::Argument(_) => -1,
            Self::Position(_) => -2,
            Self::File(_) => -3,
            Self::Damaged(_) => -4,
            Self::Internal => -5,
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Argument(text)
            | Self::Position(text)
            | Self::File(text)
            | Self::Damaged(text) => f.write_str(text),
            Self::Internal => f.write_str("a fault of the library itself; please report it"),
        }
    }
}

/// A position in the caller's text arguments.
pub(crate) struct PositionArguments<'a> {
    pub(crate) variant: Option<&'a str>,
    pub(crate) fen: Option<&'a str>,
    pub(crate) moves: Option<&'a str>,
}

fn variant(text: Option<&str>) -> Result<Variant, CallError> {
    let text = text.ok_or_else(|| CallError::Argument("variant is NULL".into()))?;
    text.parse()
        .map_err(|error| CallError::Position(format!("{error}")))
}

impl PositionArguments<'_> {
    pub(crate) fn position(&self) -> Result<Position, CallError> {
        let variant = variant(self.variant)?;
        let start = match self.fen {
            Some(fen) => Position::from_fen(variant, fen)
                .map_err(|error| CallError::Position(format!("fen: {error}")))?,
            None => Position::start(variant),
        };
        start
            .play_line(self.moves.unwrap_or_default())
            .map_err(|error| CallError::Position(format!("moves: {error}")))
    }
}

/// Returns the position of these cells, given row by row from the top.
pub(crate) fn by_stones(
    text: Option<&str>,
    cells: &[u8],
    side: c_int,
) -> Result<Position, CallError> {
    let variant = variant(text)?;
    if !variant.places_stones() {
        return Err(CallError::Position(format!(
            "{variant} has no stones; give a FEN to kagetsu_book_lookup"
        )));
    }
    let board = variant.board();
    let wanted = usize::from(board.columns) * usize::from(board.rows);
    if cells.len() != wanted {
        return Err(CallError::Argument(format!(
            "length: a board of {variant} has {wanted} cells"
        )));
    }
    let side = match side {
        1 => Side::First,
        2 => Side::Second,
        other => {
            return Err(CallError::Argument(format!(
                "side {other} is neither 1 nor 2"
            )));
        }
    };
    let drawn = |cell: &u8| match cell {
        0 => Ok('.'),
        1 => Ok('X'),
        2 => Ok('O'),
        other => Err(CallError::Argument(format!(
            "a cell is {other}, none of 0, 1 and 2"
        ))),
    };
    let rows = cells
        .chunks(board.columns.into())
        .map(|row| row.iter().map(drawn).collect::<Result<String, _>>());
    let drawing = rows.collect::<Result<Vec<_>, _>>()?.join("\n");
    Position::from_board(variant, &drawing, Some(side))
        .map_err(|error| CallError::Position(error.to_string()))
}
