//! The imported games that passed a position.

use kagetsu_api::ResultsJson;
use kagetsu_game::{Notation, Position, Side};
use kagetsu_games::{FoundGame, FoundGames, GameFilter, GameResult, MoveScore};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::{TextBlock, write_move};
use crate::ranged::Ranged;
use crate::source::Source;
use crate::view::View;

/// Shows the imported games that passed a position
///
/// First come the moves with the results of their games, then the games, the latest first.
///
/// Example: kagetsu games --book h8.book --variant freestyle-15 --moves h8 --result first
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct GamesView {
    /// Only games of players whose names have this part
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub player: String,
    /// Only games of events whose names have this part
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub event: String,
    /// Only games with this result
    #[arg(long, value_enum, value_name = "RESULT")]
    #[schema(inline)]
    pub result: Option<ResultArg>,
    /// Number of games to list
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    pub top: Ranged<20, 1, 1_000>,
}

/// A result, as a query names it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema, clap::ValueEnum)]
pub enum ResultArg {
    /// The first side won
    #[serde(rename = "1-0", alias = "first")]
    #[value(alias = "1-0")]
    First,
    /// The second side won
    #[serde(rename = "0-1", alias = "second")]
    #[value(alias = "0-1")]
    Second,
    /// Neither side won
    #[serde(rename = "1/2-1/2", alias = "draw")]
    #[value(alias = "1/2-1/2")]
    Draw,
    /// The result is not known
    #[serde(rename = "*", alias = "unknown")]
    #[value(alias = "*")]
    Unknown,
}

impl From<ResultArg> for GameResult {
    fn from(result: ResultArg) -> Self {
        match result {
            ResultArg::First => Self::Won(Side::First),
            ResultArg::Second => Self::Won(Side::Second),
            ResultArg::Draw => Self::Drawn,
            ResultArg::Unknown => Self::Unknown,
        }
    }
}

/// The imported games that passed a position.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Games)]
pub struct GamesJson {
    /// The number of games.
    pub games: u64,
    /// Games that the side to move won, drew and lost.
    #[serde(flatten)]
    pub results: ResultsJson,
    /// The moves that were made in them, the most frequent first.
    pub moves: Vec<MoveGamesJson>,
    /// The first of the games, the latest first.
    pub played: Vec<GameJson>,
}

/// The results of the games in which a move was made.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = MoveGames)]
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
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Game)]
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

impl View for GamesView {
    const NAME: &'static str = "games";
    type At = Position;
    type Result = GamesJson;

    fn read(source: &Source, at: &Position, options: GamesView) -> Result<GamesJson, ViewError> {
        let filter = GameFilter {
            player: options.player.trim().into(),
            event: options.event.trim().into(),
            result: options.result.map(GameResult::from),
        };
        let found = source.games(at, &filter, options.top.get())?;
        Ok(GamesJson::new(at, &found))
    }

    fn print(result: &GamesJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let plural = if result.games == 1 { "" } else { "s" };
        let mut blocks = vec![TextBlock::Line(format!(
            "{} game{plural} passed here",
            result.games
        ))];
        if result.games == 0 {
            return blocks;
        }
        let moves = result.moves.iter().map(|of_move| {
            let score = of_move.score;
            [
                write_move(at, &of_move.r#move, notation),
                of_move.games.to_string(),
                of_move.first_wins.to_string(),
                of_move.draws.to_string(),
                of_move.second_wins.to_string(),
                score.map_or_else(|| "-".into(), |score| format!("{score:.1}%")),
            ]
        });
        let heads = [
            "move",
            "games",
            "first wins",
            "draws",
            "second wins",
            "score",
        ];
        blocks.push(TextBlock::table(heads, 1..=5, moves));
        blocks.push(TextBlock::line(""));
        let played = result.played.iter().map(|game| {
            let event = [&*game.event, &*game.round].join(" ");
            let event = event.trim().to_string();
            let [date, first, second, result, source] = [
                &game.date,
                &game.first,
                &game.second,
                &game.result,
                &game.source,
            ]
            .map(Clone::clone);
            [date, first, second, result, event, source]
        });
        let heads = ["date", "first", "second", "result", "event", "source"];
        blocks.push(TextBlock::table(heads, [], played));
        blocks
    }
}

impl GamesJson {
    fn new(position: &Position, found: &FoundGames) -> Self {
        let is_first = position.side() == Side::First;
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
        let sum = |count: fn(&MoveScore) -> u64| found.moves.iter().map(count).sum();
        let wins = [
            sum(|score| score.first_wins),
            sum(|score| score.second_wins),
        ];
        let [own, other] = if is_first { [0, 1] } else { [1, 0] };
        Self {
            games: found.games,
            results: ResultsJson {
                wins: wins[own],
                draws: sum(|score| score.draws),
                losses: wins[other],
            },
            moves: found.moves.iter().map(of_move).collect(),
            played: found.played.iter().map(GameJson::from).collect(),
        }
    }
}

impl From<&FoundGame> for GameJson {
    fn from(FoundGame { game, ply }: &FoundGame) -> Self {
        let (played, tags) = (&game.played, game.tags.clone());
        Self {
            moves: game.moves().iter().map(|&m| played.write_move(m)).collect(),
            fen: played.setup().and_then(|_| played.prefix(0).fen().ok()),
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
