use kagetsu_game::{Bound, Effort, Game, Move, Position, is_visible, with_game};

use crate::eval::Eval;
use crate::fault::FaultKind;
use crate::search_watch::SearchWatch;

/// Longest name of an engine, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// One search that an engine is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchRequest<'a> {
    pub(crate) position: &'a Position,
    /// The root moves to choose from; empty means all.
    pub(crate) moves: &'a [Move],
    /// Number of best moves with a value, from 1 to [`EngineSession::max_lines`].
    pub(crate) lines: u16,
    pub(crate) effort: Effort,
}

/// The result of a search for one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchLine {
    pub(crate) m: Move,
    /// `None` if the engine played the move without a value.
    pub(crate) value: Option<Eval>,
    pub(crate) bound: Bound,
    /// Depth in plies, including the move.
    pub(crate) depth: u8,
    /// Legal moves, `m` first.
    pub(crate) line: Vec<Move>,
}

/// The result of one search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchResult {
    /// The engine's choice first, each move once. Empty only if the search was stopped early.
    pub(crate) lines: Vec<SearchLine>,
    /// Nodes visited, as the engine reports.
    pub(crate) nodes: u64,
}

/// An open session with an engine that has given its name.
pub(crate) trait EngineSession: Send {
    /// Returns the engine's name and version.
    fn name(&self) -> &str;

    /// Whether the engine supports [`SearchRequest::moves`]; otherwise they must be empty.
    fn restricts(&self) -> bool;

    /// Returns the greatest [`SearchRequest::lines`].
    fn max_lines(&self) -> u16;

    /// Lets the engine forget earlier searches, where the protocol has a command for it.
    fn clear_table(&mut self) -> Result<(), FaultKind>;

    /// Runs a search and reports each iteration to `progress`. Every move of the result is legal
    /// and among the moves asked about.
    fn search(
        &mut self,
        ask: SearchRequest<'_>,
        watch: &mut SearchWatch<'_>,
        progress: &mut dyn FnMut(&SearchResult),
    ) -> Result<SearchResult, FaultKind>;
}

/// Returns the longest beginning of `line` that is legal in `position`.
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

/// Returns a name of one line that is short enough for the wire.
pub(crate) fn plain(name: &str) -> String {
    let mut plain: String = name.chars().filter(|letter| is_visible(*letter)).collect();
    let end = (0..=MAX_NAME_BYTES.min(plain.len()))
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
    fn name_is_one_short_line() {
        assert_eq!(plain(" Fairy-Stockfish\t14 "), "Fairy-Stockfish14");
        assert!((MAX_NAME_BYTES - 3..=MAX_NAME_BYTES).contains(&plain(&"象".repeat(100)).len()));
    }
}
