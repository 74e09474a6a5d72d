use alloc::string::String;
use alloc::vec::Vec;

use crate::Variant;
use crate::position::KnownAnswer;

/// The facts about a game that other crates need beside its rules: one constant in each game's
/// folder, listed in the registry.
///
/// The functions that take a [`Variant`] expect one of this game.
pub struct GameInfo {
    /// The game's name, in lower case.
    pub name: &'static str,
    /// The first byte of [`Variant::code`]. Frozen.
    pub code: u8,
    /// The names of its variants, for help texts and errors.
    pub variant_names: &'static str,
    /// Whether a position can come again in a game, so that its outcome may depend on the history.
    pub has_repetition: bool,
    /// Whether all eight symmetries of a square leave the game the same, sides included.
    pub is_square: bool,
    /// Whether the search looks for wins by continuous threats.
    pub has_threat_search: bool,
    /// The board, for drawings and for random openings.
    pub board: fn(Variant) -> BoardShape,
    /// All variants, in the order of their codes.
    pub variants: fn() -> Vec<Variant>,
    /// Reads a variant's name. `None` if it is of another game; an error says what is wrong with
    /// its number.
    pub parse: fn(&str) -> Option<Result<Variant, &'static str>>,
    /// Writes a variant's name.
    pub write: fn(Variant) -> String,
    /// Reads the last three bytes of [`Variant::code`].
    pub from_code: fn([u8; 3]) -> Option<Variant>,
    /// Positions with known answers, which an unknown engine must solve before it is trusted.
    pub known_answers: fn(Variant) -> Vec<KnownAnswer>,
}

/// The board of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardShape {
    /// Number of columns.
    pub columns: u8,
    /// Number of rows.
    pub rows: u8,
    /// The effect of a move.
    pub moves: MoveKind,
}

/// The effect of a move on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// A stone is put on an empty point and stays there.
    Placement,
    /// A piece moves from one point to another.
    Movement,
}

/// Reads a number without sign and leading zero, so that every variant has one name only.
pub(crate) fn plain_number(text: &str) -> Option<u8> {
    let is_plain = !text.starts_with('+') && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}
