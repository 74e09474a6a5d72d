use kagetsu_game::{Game, Move, Score};

use crate::EngineOptions;

/// What the opponent's and one's own threats leave to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    /// The game is over; the value for the side to move.
    Over(Score),
    /// A proven value that needs no search.
    Known(Score),
    /// There is a threat: what does not answer it loses within `otherwise` plies.
    Forced {
        /// Plies to the loss after any other move.
        otherwise: u16,
    },
    /// Nothing forces.
    Free,
}

/// What is to be searched in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Best first.
    pub(crate) moves: Vec<Move>,
    /// Whether they are all that is legal, or all that answers the threat.
    pub(crate) complete: bool,
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

    /// What the threats leave to decide; cheap.
    fn situation(&self) -> Situation;

    /// What must be searched in such a situation.
    fn moves(&self, situation: &Situation) -> Moves;

    /// The moves that win where a win is [`Situation::Known`]; else none.
    fn urgent(&self) -> Vec<Move>;

    /// Whether a search for continuous threats has something to begin with.
    fn has_kill(&self) -> bool;

    /// A forced win of the side to move by continuous threats, as the whole line, trying at most `budget` threats and
    /// lines of at most `length` threats.
    fn kill(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>>;
}
