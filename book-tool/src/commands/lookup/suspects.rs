use std::io::Write;

use anyhow::Result;
use kagetsu_api::SuspectJson;
use kagetsu_program::Exit;

use crate::arguments::query::BookPosition;
use kagetsu_reader::not_held;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// Ranks the positions whose value is most doubtful
///
/// A value is doubtful if its search was shallow, if the positions behind the moves say something
/// else than the search, if they prefer another move, or if an older engine searched it. Positions
/// near the given one, on lines without losses, count more. `kagetsu build --deepen --roots`
/// searches them again.
///
/// The exit code is 1 if the book does not hold the position, or nothing is doubtful.
///
/// Example: kagetsu suspects --book h8.book --variant freestyle-15 --moves h8 --lines > roots.txt
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: BookPosition,
    /// Number of positions to list
    #[arg(long, default_value_t = 20, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Number of positions to look at, the most important first
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Prints only the lines of moves, as `kagetsu build --roots` reads them
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    /// Prints one JSON array
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut reader) = args.asked.open()?;
    let book = reader.contents(&mut |_| {})?;
    let Some(mut suspects) = book.suspects(&position, args.most)? else {
        writeln!(std::io::stderr(), "{}", not_held(&mut *reader, &position)?)?;
        return Ok(Exit::No);
    };
    suspects.truncate(args.top.into());
    let suspects: Vec<SuspectJson> = suspects.iter().map(SuspectJson::from).collect();
    if args.json {
        write_json(out, &suspects)?;
    } else if args.lines {
        for suspect in &suspects {
            writeln!(out, "{}", suspect.moves.join(" "))?;
        }
    } else {
        write_table(out, &suspects)?;
    }
    if suspects.is_empty() {
        writeln!(std::io::stderr(), "nothing below {position} is doubtful")?;
        return Ok(Exit::No);
    }
    Ok(Exit::Done)
}

fn write_table(out: &mut dyn Write, suspects: &[SuspectJson]) -> Result<()> {
    let mut rows = table::plain(&["doubt", "depth", "moves", "reasons"]);
    for suspect in suspects {
        let cells = [
            format!("{:.2}", suspect.doubt),
            suspect.depth.to_string(),
            suspect.moves.join(" "),
            suspect.reasons.join("; "),
        ];
        table::add(&mut rows, cells);
    }
    table::align_right(&mut rows, &[0, 1]);
    table::write(out, &rows)
}
