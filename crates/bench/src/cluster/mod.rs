mod process;
mod processes;

use std::io::Write;

use anyhow::Result;

use crate::report;

/// Speed-up of several worker processes over one in a build, over real sockets
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
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let measured = processes::run(args)?;
    report::write(out, is_json, &processes::method(args), &measured)
}
