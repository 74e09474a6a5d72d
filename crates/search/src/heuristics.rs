use kagetsu_game::{Game, Move, Score};

use crate::EngineOptions;

/// What the opponent's and one's own threats leave to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    /// The game is over; the value for the side to move.
    Over(Score),
    /// A proven value that needs no search.
    Known(Score),
    /// These moves, best first, are a complete set: every other one loses within `otherwise` plies.
    Forced {
        /// The moves.
        moves: Vec<Move>,
        /// Plies to the loss after any other move.
        otherwise: u16,
    },
    /// Nothing forces: candidates, best first.
    Free {
        /// The moves.
        moves: Vec<Move>,
        /// Whether they are all that is legal.
        complete: bool,
    },
}

/// A game as an engine sees it: a board that knows what is threatened and what is good.
///
/// It is not the board of the rules, which has no opinion, but is made from one and mirrors its moves.
pub(crate) trait Heuristics: Clone + Send {
    /// The rules it mirrors.
    type Rules: Game;

    /// The position of `game`, whose last move is forgotten.
    fn new(game: &Self::Rules, options: &EngineOptions) -> Self;

    /// Plays a legal move.
    fn play(&mut self, m: Move);

    /// Takes back the last one played here.
    fn undo(&mut self);

    /// A hash of stones and side to move.
    fn hash(&self) -> u64;

    /// The side to move's opinion in centi-units; asked only where nothing is [`Situation::Known`].
    fn evaluate(&self) -> Score;

    /// What must be searched here.
    fn situation(&self) -> Situation;

    /// The moves that win where a win is [`Situation::Known`]; else none.
    fn urgent(&self) -> Vec<Move>;

    /// Whether a search for continuous threats has something to begin with.
    fn has_kill(&self) -> bool;

    /// A forced win of the side to move by continuous threats, as the whole line, trying at most `budget` threats and
    /// lines of at most `length` threats.
    fn kill(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>>;
}
