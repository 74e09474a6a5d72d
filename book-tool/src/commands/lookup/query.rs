use std::io::Write;

use anyhow::Result;
use kagetsu_api::{AnswerJson, GamesJson};
use kagetsu_book::Choice;
use kagetsu_program::Exit;
use serde::Serialize;

use super::games::{self, GameArgs};
use crate::arguments::query::BookPosition;
use kagetsu_reader::not_held;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// Shows the moves that a book knows in a position
///
/// The command neither changes the book nor starts a search. Values are from the view of the side
/// to move, and take into account the positions of the book behind the moves. The exit code is 1 if
/// the book does not hold the position.
///
/// --games adds the imported games that passed the position: how each move scored in them, who
/// played them and when.
///
/// Example: kagetsu query --book h8.book --variant freestyle-15 --moves h8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    book_position: BookPosition,
    /// Shows the values as they were searched, without those from positions behind the moves
    #[arg(long)]
    searched: bool,
    /// Number of moves to show
    #[arg(long, default_value_t = 10, value_name = "K")]
    top: usize,
    #[command(flatten)]
    games: GameArgs,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// The answer, and the games with --games.
#[derive(Serialize)]
struct QueryJson {
    #[serde(flatten)]
    answer: AnswerJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<GamesJson>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut reader) = args.book_position.open()?;
    let notation = args.book_position.notation();
    let found = if args.searched {
        reader.lookup_searched(&position)?
    } else {
        reader.lookup(&position)?
    };
    let Some(answer) = found else {
        writeln!(std::io::stderr(), "{}", not_held(&mut *reader, &position)?)?;
        return Ok(Exit::No);
    };
    let games = args.games.find(&mut *reader, &position)?;
    if args.json {
        let json = QueryJson {
            answer: AnswerJson::new(&position, &answer, 0),
            games: games.map(|found| GamesJson::new(&position, &found)),
        };
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{position}, {} to move", position.side())?;
    if let Some((best, verdict)) = Choice::default().pick(&answer) {
        let best = position.write_move_in(*best, notation);
        let rivals = Choice::default().rivals(&answer).len();
        let doubt = if rivals > 0 {
            format!("; {rivals} with an upper bound above it")
        } else {
            String::new()
        };
        if verdict.is_silent() {
            let times = match verdict.nodes {
                1 => "once".to_string(),
                times => format!("{times} times"),
            };
            writeln!(out, "made most often {best}, {times}; no value is known")?;
        } else {
            writeln!(
                out,
                "best {best}, {}, depth {}{doubt}",
                verdict.score, verdict.depth
            )?;
        }
    }
    table::write_answer(out, &position, &answer, args.top, notation)?;
    if let Some(found) = games {
        games::write(out, &position, &found, notation)?;
    }
    Ok(Exit::Done)
}
