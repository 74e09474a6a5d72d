//! Games with variations and comments.

use kagetsu_game::{Move, Position};
use kagetsu_games::{GameRecord, GameResult, GameTags};

/// A game with its variations.
#[derive(Clone, Debug, PartialEq)]
pub struct GameTree {
    /// The position before the first move.
    pub start: Position,
    /// The result that the file gives.
    pub result: GameResult,
    /// Its players, event and date.
    pub tags: GameTags,
    /// The comment on the start; empty for none.
    pub comment: String,
    /// Other properties of SGF or tags of PGN, with their values.
    pub properties: Vec<(String, Vec<String>)>,
    /// All moves, each after the move before it. The first move after a position is that of the
    /// main line, the others are variations.
    pub moves: Vec<GameMove>,
}

/// A move of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct GameMove {
    /// The number of the move before it; `None` for a move from the start.
    pub parent: Option<usize>,
    /// The position before the move.
    pub before: Position,
    /// The move.
    pub at: Move,
    /// The comment on it; empty for none.
    pub comment: String,
    /// Other properties of SGF, or `$` with a number of PGN.
    pub properties: Vec<(String, Vec<String>)>,
}

/// Where a reader is in a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePlace {
    /// The position; `None` behind what cannot be read or played.
    pub(crate) position: Option<Position>,
    /// The number of the last move.
    pub(crate) last: Option<usize>,
}

impl GameTree {
    /// Returns a game without moves from a position.
    #[must_use]
    pub fn from_start(start: Position) -> Self {
        Self {
            start,
            result: GameResult::Unknown,
            tags: GameTags::default(),
            comment: String::new(),
            properties: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Whether each of these moves follows the one before it on the board.
    pub(crate) fn is_played(&self, line: &[usize]) -> bool {
        let mut setup = self.start.setup();
        line.iter().all(|at| {
            let before = &self.moves[*at].before;
            // Behind a pass stands a position of its own; behind a repetition only in xiangqi.
            let is_next = before.setup() == setup || before.fen().is_ok();
            setup = before.setup();
            is_next
        })
    }

    /// Returns the moves after each move, the main line's first; the last list is that of the
    /// moves from the start.
    #[must_use]
    pub fn children(&self) -> Vec<Vec<usize>> {
        let start = self.moves.len();
        let mut children = vec![Vec::new(); start + 1];
        for (number, m) in self.moves.iter().enumerate() {
            children[m.parent.unwrap_or(start)].push(number);
        }
        children
    }

    /// Returns the numbers of the main line's moves.
    #[must_use]
    pub fn main_line(&self) -> Vec<usize> {
        let children = self.children();
        let mut line = Vec::new();
        let mut at = self.moves.len();
        while let Some(&next) = children[at].first() {
            line.push(next);
            at = next;
        }
        line
    }

    /// Adds a move, and returns its number.
    pub(crate) fn push(&mut self, parent: Option<usize>, before: Position, at: Move) -> usize {
        self.moves.push(GameMove {
            parent,
            before,
            at,
            comment: String::new(),
            properties: Vec::new(),
        });
        self.moves.len() - 1
    }

    /// Adds to the comment on a move, or on the start.
    pub(crate) fn remark(&mut self, at: Option<usize>, text: &str) {
        let comment = match at {
            Some(at) => &mut self.moves[at].comment,
            None => &mut self.comment,
        };
        if !comment.is_empty() && !text.is_empty() {
            comment.push(' ');
        }
        comment.push_str(text);
    }
}

/// The line of a game as a tree.
impl From<&GameRecord> for GameTree {
    fn from(game: &GameRecord) -> Self {
        let positions = game.positions();
        let start = positions.first().unwrap_or(&game.played);
        let mut tree = Self {
            result: game.result,
            tags: game.tags.clone(),
            ..Self::from_start(start.clone())
        };
        for (ply, (before, m)) in positions.iter().zip(game.moves()).enumerate() {
            tree.push(ply.checked_sub(1), before.clone(), m);
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kagetsu_game::Variant;

    #[test]
    fn lines_and_trees_are_told_apart() {
        let played = Position::from_line(Variant::FREESTYLE_15, "h8 i9 h9").expect("legal");
        let game = GameRecord {
            played,
            tail: Vec::new(),
            result: GameResult::Drawn,
            tags: GameTags::default(),
        };
        let mut tree = GameTree::from(&game);
        assert!(tree.is_played(&tree.main_line()));
        assert_eq!(tree.main_line(), [0, 1, 2]);
        let (before, m) = (tree.moves[1].before.clone(), tree.moves[2].at);
        let side = tree.push(Some(0), before, m);
        assert!(tree.main_line().len() < tree.moves.len());
        assert_eq!((side, tree.main_line()), (3, vec![0, 1, 2]));
        assert_eq!(
            tree.children(),
            [vec![1, 3], vec![2], vec![], vec![], vec![0]]
        );
    }
}
