use kagetsu_game::{Move, Position};
use kagetsu_games::{
    FoundGame, FoundGames, GameFilter, GameRecord, GameResult, GameTags, MoveScore,
};
use kagetsu_proto::{WireError, v1};
use serde::Serialize;

/// The imported games that passed a position.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Games))]
pub struct GamesJson {
    /// The number of games.
    pub games: u64,
    /// The moves that were made in them, the most frequent first.
    pub moves: Vec<MoveGamesJson>,
    /// The first of the games, the latest first.
    pub played: Vec<GameJson>,
}

/// The results of the games in which a move was made.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MoveGames))]
pub struct MoveGamesJson {
    /// The move.
    pub r#move: String,
    /// The number of games.
    pub games: u64,
    /// Games that the first side won.
    pub first_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the second side won.
    pub second_wins: u64,
    /// Wins and half of the draws of the side that made the move, in percent of the games with a
    /// result; null where none has one.
    pub score: Option<f64>,
}

/// A game that passed a position.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Game))]
pub struct GameJson {
    /// All moves, from the start or from `fen`.
    pub moves: Vec<String>,
    /// The position before the first move as FEN; null at the start of a game.
    pub fen: Option<String>,
    /// Moves before the position that was asked about.
    pub ply: usize,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// The player of the first side; empty where the file does not say.
    pub first: String,
    /// The player of the second side.
    pub second: String,
    /// The tournament or match.
    pub event: String,
    /// The day.
    pub date: String,
    /// The round of the event.
    pub round: String,
    /// The file that the game was imported from.
    pub source: String,
}

impl GamesJson {
    /// The games that passed `position`.
    #[must_use]
    pub fn new(position: &Position, found: &FoundGames) -> Self {
        let is_first = position.side() == kagetsu_game::Side::First;
        let of_move = |score: &MoveScore| {
            let decided = score.first_wins + score.draws + score.second_wins;
            let wins = if is_first {
                score.first_wins
            } else {
                score.second_wins
            };
            let share = (wins as f64 + score.draws as f64 / 2.0) / decided as f64;
            MoveGamesJson {
                r#move: position.write_move(score.at),
                games: score.games,
                first_wins: score.first_wins,
                draws: score.draws,
                second_wins: score.second_wins,
                score: (decided > 0).then(|| (1_000.0 * share).round() / 10.0),
            }
        };
        Self {
            games: found.games,
            moves: found.moves.iter().map(of_move).collect(),
            played: found.played.iter().map(GameJson::from).collect(),
        }
    }
}

impl From<&FoundGame> for GameJson {
    fn from(FoundGame { game, ply }: &FoundGame) -> Self {
        let (played, tags) = (&game.played, game.tags.clone());
        let setup = played.setup().cloned();
        let setup = setup.and_then(|packed| Position::unpack(played.variant(), packed).ok());
        Self {
            moves: played
                .moves()
                .iter()
                .map(|&m| played.write_move(m))
                .collect(),
            fen: setup.and_then(|setup| setup.fen().ok()),
            ply: *ply,
            result: game.result.text().into(),
            first: tags.first,
            second: tags.second,
            event: tags.event,
            date: tags.date,
            round: tags.round,
            source: tags.source,
        }
    }
}

/// Returns the games that passed a position as a message.
#[must_use]
pub fn games_message(found: &FoundGames) -> v1::GamesResponse {
    let of_move = |score: &MoveScore| v1::MoveGames {
        r#move: score.at.code().into(),
        games: score.games,
        first_wins: score.first_wins,
        draws: score.draws,
        second_wins: score.second_wins,
    };
    let of_game = |FoundGame { game, ply }: &FoundGame| {
        let tags = game.tags.clone();
        v1::PlayedGame {
            position: Some((&game.played).into()),
            ply: u32::try_from(*ply).unwrap_or(u32::MAX),
            result: game.result.text().into(),
            first: tags.first,
            second: tags.second,
            event: tags.event,
            date: tags.date,
            round: tags.round,
            source: tags.source,
        }
    };
    v1::GamesResponse {
        games: found.games,
        moves: found.moves.iter().map(of_move).collect(),
        played: found.played.iter().map(of_game).collect(),
    }
}

/// Reads the games that passed a position.
///
/// # Errors
/// If a number is out of its range or a game is impossible.
pub fn read_games(message: &v1::GamesResponse) -> Result<FoundGames, WireError> {
    let of_move = |score: &v1::MoveGames| {
        let code = u16::try_from(score.r#move).map_err(|_| WireError::Range {
            what: "a move",
            value: score.r#move.into(),
        })?;
        Ok(MoveScore {
            at: Move::new(code),
            games: score.games,
            first_wins: score.first_wins,
            draws: score.draws,
            second_wins: score.second_wins,
        })
    };
    let of_game = |game: &v1::PlayedGame| {
        let position = game.position.as_ref();
        let position = position.ok_or(WireError::Missing("the position"))?;
        Ok(FoundGame {
            game: GameRecord {
                played: Position::try_from(position)?,
                result: GameResult::of_text(&game.result),
                tags: GameTags {
                    first: game.first.clone(),
                    second: game.second.clone(),
                    event: game.event.clone(),
                    date: game.date.clone(),
                    round: game.round.clone(),
                    source: game.source.clone(),
                },
            },
            ply: game.ply as usize,
        })
    };
    let moves: Result<_, WireError> = message.moves.iter().map(of_move).collect();
    let played: Result<_, WireError> = message.played.iter().map(of_game).collect();
    Ok(FoundGames {
        games: message.games,
        moves: moves?,
        played: played?,
    })
}

/// Reads a filter of games. The result is written as in `1-0`, and empty for all.
#[must_use]
pub fn games_filter(player: &str, event: &str, result: &str) -> GameFilter {
    GameFilter {
        player: player.trim().into(),
        event: event.trim().into(),
        result: (!result.is_empty()).then(|| GameResult::of_text(result)),
    }
}
