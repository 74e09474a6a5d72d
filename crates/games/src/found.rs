use kagetsu_game::Move;

use crate::record::{GameRecord, GameResult};

/// The games that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// A part of a player's name; empty for all.
    pub player: String,
    /// A part of the event's name; empty for all.
    pub event: String,
    /// The result; `None` for all.
    pub result: Option<GameResult>,
}

/// The results of the games in which a move was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveScore {
    /// The move.
    pub at: Move,
    /// The number of games.
    pub games: u64,
    /// Games that the first side won.
    pub first_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the second side won.
    pub second_wins: u64,
}

/// A game that passed a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGame {
    /// The game.
    pub game: GameRecord,
    /// Moves before the position.
    pub ply: usize,
}

/// The games that passed a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundGames {
    /// The number of games.
    pub games: u64,
    /// The moves that were made there, the most frequent first.
    pub moves: Vec<MoveScore>,
    /// The first of the games, the latest first.
    pub played: Vec<FoundGame>,
}
