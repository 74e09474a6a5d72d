use kagetsu_game::{Bound, Effort, Game, Move, Position, with_game};

use crate::fault::Wrong;
use crate::watch::Watch;

/// Most bytes of an engine's name.
const MOST_NAME: usize = 120;

/// What an engine is asked at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) position: &'a Position,
    /// The moves to choose from; empty: all.
    pub(crate) moves: &'a [Move],
    /// How many best moves get a value, at least 1; no more than [`Talk::most_lines`].
    pub(crate) lines: u16,
    pub(crate) effort: Effort,
}

/// A value as an engine says it, from the view of the side that makes the move. A mate is a claim, not a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Centi-units.
    Centi(i32),
    /// Plies.
    Win(u32),
    /// Plies.
    Loss(u32),
}

impl Value {
    /// The value of making the move that leads to a position of this value.
    pub(crate) fn before(self) -> Self {
        match self {
            Self::Centi(centi) => Self::Centi(centi.saturating_neg()),
            Self::Win(plies) => Self::Loss(plies.saturating_add(1)),
            Self::Loss(plies) => Self::Win(plies.saturating_add(1)),
        }
    }
}

/// What an engine found out of one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) m: Move,
    /// `None`: it plays the move without a word.
    pub(crate) value: Option<Value>,
    pub(crate) bound: Bound,
    /// Plies, the move included.
    pub(crate) depth: u8,
    /// Legal moves, `m` first.
    pub(crate) line: Vec<Move>,
}

/// What an engine found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its choice first; each move once. Empty only where it was stopped early.
    pub(crate) lines: Vec<Line>,
    /// Positions visited, as it says.
    pub(crate) nodes: u64,
}

/// A conversation with an engine that has said who it is.
pub(crate) trait Talk: Send {
    /// Name and version.
    fn name(&self) -> &str;

    /// Whether [`Ask::moves`] reaches the engine; else it must be empty.
    fn restricts(&self) -> bool;

    /// The most that [`Ask::lines`] may be.
    fn most_lines(&self) -> u16;

    /// Lets the engine think. `told` hears of every iteration. Every move found is legal, and one of those asked about.
    fn search(
        &mut self,
        ask: Ask<'_>,
        watch: &mut Watch<'_>,
        told: &mut dyn FnMut(&Found),
    ) -> Result<Found, Wrong>;
}

/// The longest beginning of `line` that can be played in `position`.
pub(crate) fn playable(position: &Position, line: impl IntoIterator<Item = Move>) -> Vec<Move> {
    with_game!(position.variant(), G => {
        let (mut game, mut played) = (position.game::<G>(), Vec::new());
        for m in line {
            if game.outcome().is_some() || game.check(m).is_err() {
                break;
            }
            game.play(m);
            played.push(m);
        }
        played
    })
}

/// A name as it is kept: of one line, and not longer than messages take.
pub(crate) fn plain(name: &str) -> String {
    let mut plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let end = (0..=MOST_NAME.min(plain.len()))
        .rev()
        .find(|&end| plain.is_char_boundary(end))
        .unwrap_or(0);
    plain.truncate(end);
    plain.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_fits_into_a_message() {
        assert_eq!(plain(" Fairy-Stockfish\t14 "), "Fairy-Stockfish14");
        assert!((MOST_NAME - 3..=MOST_NAME).contains(&plain(&"象".repeat(100)).len()));
    }
}
