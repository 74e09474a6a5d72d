mod process;
mod processes;
mod simulation;
mod streams;

use std::io::Write;
use std::time::Duration;

use anyhow::{Result, bail};
use kagetsu_terminal::arguments::effort::parse_time;

use crate::report;

/// Speed-up of several worker processes over one, over real sockets, with a book or with one
/// position; the load of a coordinator; a simulated book
///
/// Example: kagetsu bench cluster --workers 2 --depth 8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Worker processes to compare with one
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    workers: u16,
    /// In place of a book, all workers together search the ten positions of `bench seeds`, one
    /// after another
    #[arg(long, conflicts_with_all = ["simulate", "streams", "idle"])]
    position: bool,
    /// With --position, this many balanced openings in place of those ten
    #[arg(long, value_name = "N", conflicts_with_all = ["streams", "idle"],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    openings: Option<u32>,
    /// Positions of each build
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,
    /// Plies to search in each
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    depth: u8,
    /// Rounds of runs
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Measures task round trips a second of a coordinator over this many streams that answer at
    /// once
    #[arg(long, value_name = "N", conflicts_with = "simulate", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Measures the cost of this many idle connected workers to a coordinator
    #[arg(long, value_name = "N", conflicts_with_all = ["simulate", "streams"],
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    idle: Option<u16>,
    /// Simulates a book with up to 10,000 workers: the real scheduler, no search, a virtual clock
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "book")]
    simulate: Option<Simulated>,
    #[command(flatten)]
    terms: simulation::BookTerms,
    /// Length of the observation [default: 60s simulated, 10s of real streams]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    length: Option<Duration>,
}

/// The subject of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Simulated {
    /// A book, each worker with positions of its own
    Book,
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    if args.openings.is_some() && !args.position {
        bail!("--openings is for positions: add --position");
    }
    let length = |usual| args.length.unwrap_or(Duration::from_secs(usual));
    if args.simulate.is_some() {
        let simulated = simulation::run(&args.terms, length(60))?;
        let method = args.terms.method(length(60));
        return report::write(out, is_json, &method, &simulated);
    }
    if let Some(streams) = args.streams {
        let measured = streams::busy(streams, length(10))?;
        return report::write(out, is_json, streams::METHOD, &measured);
    }
    if let Some(workers) = args.idle {
        let measured = streams::idle(workers, length(10))?;
        return report::write(out, is_json, streams::IDLE_METHOD, &measured);
    }
    let measured = processes::run(args)?;
    report::write(out, is_json, &processes::method(args), &measured)
}
