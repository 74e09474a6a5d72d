use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use kagetsu_game::{Effort, Position};
use kagetsu_postgres::BookUrl;
use kagetsu_program::Exit;
use kagetsu_reader::views::suspects::{SuspectJson, SuspectsJson, SuspectsView};
use kagetsu_reader::{RegisteredView, View};
use kagetsu_terminal::json::{write_json, write_json_text};
use serde::Serialize;

use super::view::{no_result, write_result};
use crate::arguments::query::BookPosition;
use crate::commands::jobs::grow::{self, BuildJson};

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
    #[command(flatten)]
    options: SuspectsView,
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
    /// Prints one JSON object; with --deepen it also has the job
    #[arg(long)]
    json: bool,
}

/// The doubtful positions, and the build that searched them again.
#[derive(Serialize)]
struct DeepenedJson {
    #[serde(flatten)]
    suspects: SuspectsJson,
    job: BuildJson,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    if args.deepen {
        check_can_change(args.book_position.book().0)?;
    }
    let (position, reader) = args.book_position.open()?;
    let view = RegisteredView::named(SuspectsView::NAME)?;
    let json = match view.read(
        &reader,
        Some(&position),
        &serde_json::to_string(&args.options)?,
    ) {
        Ok(json) => json,
        Err(error) => return no_result(error),
    };
    // A build needs the folder for itself.
    drop(reader);
    let found: SuspectsJson = serde_json::from_str(&json)?;
    let is_empty = found.suspects.is_empty();
    let deepening = (args.deepen && !is_empty)
        .then(|| deepening(args, &position, &found.suspects))
        .transpose()?;
    let is_object = args.json && deepening.is_some();
    if args.json && !is_object {
        write_json_text(out, &json)?;
    } else if args.lines {
        for suspect in &found.suspects {
            writeln!(out, "{}", suspect.moves.join(" "))?;
        }
    } else if !args.json && !is_empty {
        let notation = args.book_position.notation();
        write_result(view, &json, Some(&position), notation, out)?;
    }
    if is_empty {
        writeln!(std::io::stderr(), "nothing below {position} is doubtful")?;
        return Ok(Exit::No);
    }
    let Some(deepening) = deepening else {
        return Ok(Exit::Done);
    };
    out.flush()?;
    if !is_object {
        return grow::run(deepening, out);
    }
    let job = grow::build(&deepening)?;
    let exit = job.exit();
    let suspects = found;
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
fn deepening(args: &Args, root: &Position, suspects: &[SuspectJson]) -> Result<grow::Args> {
    let is_wanted = |suspect: &&SuspectJson| match (args.depth, args.nodes) {
        (Some(depth), None) => suspect.depth < depth,
        _ => true,
    };
    let suspects: Vec<&SuspectJson> = suspects.iter().filter(is_wanted).collect();
    let Some(needed) = suspects.iter().map(|suspect| needed_depth(suspect)).max() else {
        let depth = args.depth.unwrap_or_default();
        bail!(
            "every listed position was searched to depth {depth} or more; give a greater --depth"
        );
    };
    let usual = needed.saturating_add(DEEPER_PLIES).min(Effort::MAX_DEPTH);
    let usual = args.nodes.is_none().then_some(usual);
    let (book, access) = args.book_position.book();
    let start = Position::new(root.variant(), root.setup().cloned(), &[])?;
    let positions = suspects.iter();
    let positions = positions.map(|suspect| Ok(start.play_line(&suspect.moves.join(" "))?));
    let positions = positions.collect::<Result<_>>()?;
    let mut build = grow::Args::deepening(book, access, positions);
    build.limit(args.depth.or(usual), args.nodes);
    (build.threads, build.json) = (args.threads, args.json);
    Ok(build)
}

/// Returns the depth at which half of the book is searched as deep as the position.
fn needed_depth(suspect: &SuspectJson) -> u8 {
    let missing = suspect.missing_plies.unwrap_or(0);
    suspect.depth.saturating_add(missing)
}
