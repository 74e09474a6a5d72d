mod process;
mod processes;
mod streams;

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use kagetsu_terminal::arguments::effort::parse_time;

use crate::report;

/// Speed-up of several worker processes over one in a build, over real sockets; or the load of a
/// coordinator
///
/// Example: kagetsu bench cluster --workers 2 --depth 8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Worker processes to compare with one
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    workers: u16,
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
    /// once, in place of builds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Length of the observation of streams
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = parse_time, requires = "streams")]
    length: Duration,
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    if let Some(streams) = args.streams {
        let measured = streams::busy(streams, args.length)?;
        return report::write(out, is_json, streams::METHOD, &measured);
    }
    let measured = processes::run(args)?;
    report::write(out, is_json, &processes::method(args), &measured)
}
