use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use kagetsu_api::SuspectJson;
use kagetsu_book::{Doubt, Suspect};
use kagetsu_game::Effort;
use kagetsu_postgres::BookUrl;
use kagetsu_program::Exit;
use serde::Serialize;

use crate::arguments::query::BookPosition;
use crate::commands::jobs::grow::{self, BuildJson, Deepening};
use kagetsu_reader::not_held;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// Plies by which --deepen searches deeper than the listed positions need.
const DEEPER_PLIES: u8 = 2;

/// Ranks the positions whose value is most doubtful
///
/// A value is doubtful if its search was shallow, if the positions behind the moves say something
/// else than the search, if they prefer another move, or if an older engine searched it. Positions
/// near the given one, on lines without losses, count more.
///
/// --deepen searches the listed positions again: in this process where --book is a folder, as a job
/// of the cluster where it is the URL of a coordinator. --lines prints a file of roots for
/// `kagetsu build --deepen --roots`, which has more settings.
///
/// The exit code is 1 if the book does not hold the position, or nothing is doubtful.
///
/// Example: kagetsu suspects --book h8.book --variant freestyle-15 --moves h8 --top 5 --deepen
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    book_position: BookPosition,
    /// Number of positions to list
    #[arg(long, default_value_t = 20, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Number of positions to look at, the most important first
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Searches the listed positions again
    #[arg(long)]
    deepen: bool,
    /// Depth of --deepen, in plies [default: 2 more than the listed positions lack]
    #[arg(long, requires = "deepen", value_name = "N",
          value_parser = clap::value_parser!(u8).range(1..=i64::from(Effort::MAX_DEPTH)))]
    depth: Option<u8>,
    /// Number of positions that each search of --deepen visits at most
    #[arg(long, requires = "deepen", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Workers of --deepen in this process [default: one for each core]
    #[arg(long, requires = "deepen", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Prints only the lines of moves, as `kagetsu build --roots` reads them
    #[arg(long, conflicts_with_all = ["json", "deepen"])]
    lines: bool,
    /// Prints one JSON array; with --deepen an object with the array and the job
    #[arg(long)]
    json: bool,
}

/// The doubtful positions, and the build that searched them again.
#[derive(Serialize)]
struct DeepenedJson<'a> {
    suspects: &'a [SuspectJson],
    job: BuildJson,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    if args.deepen {
        check_can_change(args.book_position.book().0)?;
    }
    let (position, mut reader) = args.book_position.open()?;
    let book = reader.contents(&mut |_| {})?;
    let Some(mut suspects) = book.suspects(&position, args.most)? else {
        writeln!(std::io::stderr(), "{}", not_held(&mut *reader, &position)?)?;
        return Ok(Exit::No);
    };
    // A build needs the folder for itself.
    drop(reader);
    suspects.truncate(args.top.into());
    let listed: Vec<SuspectJson> = suspects.iter().map(SuspectJson::from).collect();
    let deepening = (args.deepen && !suspects.is_empty())
        .then(|| deepening(args, suspects))
        .transpose()?;
    let is_object = args.json && deepening.is_some();
    if args.json && !is_object {
        write_json(out, &listed)?;
    } else if args.lines {
        for suspect in &listed {
            writeln!(out, "{}", suspect.moves.join(" "))?;
        }
    } else if !args.json && !listed.is_empty() {
        write_table(out, &listed)?;
    }
    if listed.is_empty() {
        writeln!(std::io::stderr(), "nothing below {position} is doubtful")?;
        return Ok(Exit::No);
    }
    let Some(deepening) = deepening else {
        return Ok(Exit::Done);
    };
    out.flush()?;
    let build = grow::Args::deepening(deepening)?;
    if !is_object {
        return grow::run(build, out);
    }
    let job = grow::build(&build)?;
    let exit = job.exit();
    let suspects = &listed;
    write_json(out, &DeepenedJson { suspects, job })?;
    Ok(exit)
}

/// Refuses a book that no build of this command can change.
fn check_can_change(book: &str) -> Result<()> {
    if BookUrl::is_one(book) {
        bail!(
            "{book} is a book in a database, which only a coordinator changes: give the \
             coordinator's URL as --book"
        );
    }
    if Path::new(book).is_file() {
        bail!("{book} is a file, which never changes: --deepen needs the folder of the book");
    }
    Ok(())
}

/// Returns the build that searches the positions again.
fn deepening(args: &Args, mut suspects: Vec<Suspect>) -> Result<Deepening<'_>> {
    if let (Some(depth), None) = (args.depth, args.nodes) {
        suspects.retain(|suspect| suspect.depth < depth);
    }
    let Some(needed) = suspects.iter().map(needed_depth).max() else {
        let depth = args.depth.unwrap_or_default();
        bail!(
            "every listed position was searched to depth {depth} or more; give a greater --depth"
        );
    };
    let usual = needed.saturating_add(DEEPER_PLIES).min(Effort::MAX_DEPTH);
    let usual = args.nodes.is_none().then_some(usual);
    let (book, access) = args.book_position.book();
    Ok(Deepening {
        book,
        access,
        positions: suspects.into_iter().map(|found| found.position).collect(),
        effort: Effort {
            depth: args.depth.or(usual),
            nodes: args.nodes,
            time: None,
        },
        threads: args.threads,
        json: args.json,
    })
}

/// Returns the depth at which half of the book is searched as deep as the position.
fn needed_depth(suspect: &Suspect) -> u8 {
    let missing = suspect.reasons.iter().map(|reason| match reason {
        Doubt::Shallow(plies) => *plies,
        _ => 0,
    });
    suspect.depth.saturating_add(missing.max().unwrap_or(0))
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
