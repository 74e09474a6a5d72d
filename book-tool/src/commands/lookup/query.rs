use std::io::Write;

use anyhow::Result;
use kagetsu_api::{AnnotationsJson, AnswerJson};
use kagetsu_book::Choice;
use kagetsu_program::Exit;
use kagetsu_reader::RegisteredView;
use kagetsu_reader::views::book::BookAnswer;
use kagetsu_reader::views::games::{GamesJson, ResultArg};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;
use serde::Serialize;
use serde_json::json;

use super::view::{no_result, write_result};
use crate::arguments::query::BookPosition;
use crate::output::OutputArgs;

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
    #[command(flatten)]
    output: OutputArgs,
}

/// Which imported games are shown.
#[derive(Debug, clap::Args)]
struct GameArgs {
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

impl GameArgs {
    /// The options of the view of games, if they are asked for.
    fn options(&self) -> Option<String> {
        let is_filtered = self.player.is_some() || self.event.is_some() || self.result.is_some();
        (self.games || is_filtered).then(|| {
            let (player, event) = (self.player.as_deref(), self.event.as_deref());
            let (player, event) = (player.unwrap_or_default(), event.unwrap_or_default());
            json!({"player": player, "event": event, "result": self.result, "top": self.top_games})
                .to_string()
        })
    }
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
    let (position, reader) = args.book_position.open()?;
    let notation = args.book_position.place.notation;
    let known = match BookAnswer::read(&reader, &position, args.searched) {
        Ok(known) => known,
        Err(error) => return no_result(error),
    };
    let answer = &known.answer;
    let view = RegisteredView::named("games")?;
    let games = args.games.options();
    let games = games.map(|options| view.read(&reader, Some(&position), &options));
    let games = match games.transpose() {
        Ok(games) => games,
        Err(error) => return no_result(error),
    };
    if args.output.json {
        let mut answer = AnswerJson::new(&position, answer, 0).with_annotations(known.notes);
        if games.is_none() {
            answer = known.results.add_to(answer);
        }
        let json = QueryJson {
            answer,
            games: games.map(|json| serde_json::from_str(&json)).transpose()?,
        };
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{position}, {} to move", position.side())?;
    if let Some((best, verdict)) = Choice::default().pick(answer) {
        let best = position.write_move_in(*best, notation);
        let rivals = Choice::default().rivals(answer).len();
        let doubt = match rivals {
            0 => String::new(),
            _ => format!("; {rivals} with an upper bound above it"),
        };
        if verdict.is_silent() {
            // A library and a compiled book do not count how often a move was made.
            let made = match verdict.nodes {
                0 => format!("known move {best}"),
                1 => format!("made most often {best}, once"),
                times => format!("made most often {best}, {times} times"),
            };
            writeln!(out, "{made}; no value is known")?;
        } else {
            writeln!(
                out,
                "best {best}, {}, depth {}{doubt}",
                verdict.score, verdict.depth
            )?;
        }
    }
    let all = known.results.all();
    if all.sum() > 0 {
        writeln!(
            out,
            "games: {} won, {} drawn, {} lost by the side to move",
            all.wins, all.draws, all.losses
        )?;
    }
    table::write_answer(out, &position, answer, args.top, notation)?;
    if !known.notes.is_empty() {
        let json = serde_json::to_string(&AnnotationsJson {
            annotations: known.notes,
        })?;
        writeln!(out)?;
        let view = RegisteredView::named("annotations")?;
        write_result(view, &json, Some(&position), notation, out)?;
    }
    if let Some(json) = games {
        writeln!(out)?;
        write_result(view, &json, Some(&position), notation, out)?;
    }
    Ok(Exit::Done)
}
