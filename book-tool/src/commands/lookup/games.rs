//! The imported games in the output of `kagetsu query`.

use std::io::Write;

use anyhow::Result;
use kagetsu_api::GamesJson;
use kagetsu_game::{Notation, Position, Side};
use kagetsu_games::{FoundGames, GameFilter, GameResult};
use kagetsu_reader::BookReader;
use kagetsu_terminal::table;

/// Which imported games are shown.
#[derive(Debug, clap::Args)]
pub(super) struct GameArgs {
    /// Shows the imported games that passed the position
    #[arg(long)]
    games: bool,
    /// Shows the games of players whose names have this part
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Shows the games of events whose names have this part
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Shows the games with this result
    #[arg(long, value_enum, value_name = "RESULT")]
    result: Option<ResultArg>,
    /// Number of games to list
    #[arg(long, default_value_t = 10, value_name = "N")]
    top_games: u32,
}

/// A result, as the value of a flag.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ResultArg {
    /// The first side won
    First,
    /// The second side won
    Second,
    /// Neither side won
    Draw,
    /// The result is not known
    Unknown,
}

impl GameArgs {
    /// Returns the games, if they are asked for.
    pub(super) fn find(
        &self,
        reader: &mut dyn BookReader,
        position: &Position,
    ) -> Result<Option<FoundGames>> {
        let is_filtered = self.player.is_some() || self.event.is_some() || self.result.is_some();
        if !self.games && !is_filtered {
            return Ok(None);
        }
        let filter = GameFilter {
            player: self.player.clone().unwrap_or_default(),
            event: self.event.clone().unwrap_or_default(),
            result: self.result.map(|result| match result {
                ResultArg::First => GameResult::Won(Side::First),
                ResultArg::Second => GameResult::Won(Side::Second),
                ResultArg::Draw => GameResult::Drawn,
                ResultArg::Unknown => GameResult::Unknown,
            }),
        };
        reader.games(position, &filter, self.top_games).map(Some)
    }
}

/// Writes how the moves scored, and the games.
pub(super) fn write(
    out: &mut dyn Write,
    position: &Position,
    found: &FoundGames,
    notation: Notation,
) -> Result<()> {
    let json = GamesJson::new(position, found);
    let plural = if json.games == 1 { "" } else { "s" };
    writeln!(out, "\n{} game{plural} passed here", json.games)?;
    if json.games == 0 {
        return Ok(());
    }
    let mut rows = table::plain(&[
        "move",
        "games",
        "first wins",
        "draws",
        "second wins",
        "score",
    ]);
    for (scored, of_move) in found.moves.iter().zip(&json.moves) {
        let score = of_move.score;
        let cells = [
            position.write_move_in(scored.at, notation),
            of_move.games.to_string(),
            of_move.first_wins.to_string(),
            of_move.draws.to_string(),
            of_move.second_wins.to_string(),
            score.map_or_else(|| "-".into(), |score| format!("{score:.1}%")),
        ];
        table::add(&mut rows, cells);
    }
    table::align_right(&mut rows, &[1, 2, 3, 4, 5]);
    table::write(out, &rows)?;
    writeln!(out)?;
    let mut rows = table::plain(&["date", "first", "second", "result", "event", "source"]);
    for game in json.played {
        let event = [game.event, game.round].join(" ");
        table::add(
            &mut rows,
            [
                game.date,
                game.first,
                game.second,
                game.result,
                event.trim().into(),
                game.source,
            ],
        );
    }
    table::write(out, &rows)
}
