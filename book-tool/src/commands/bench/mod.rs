//! Measurements, each of which prints its own method.

mod book;
mod cluster;
mod documents;
mod doors;
mod elo;
mod folder;
mod growth;
mod matches;
mod mechanisms;
mod openings;
mod pair;
mod puzzles;
mod search;
mod seeds;
mod signature;
mod surakarta;
mod threats;

use std::io::Write;

use anyhow::Result;
use clap::Subcommand;
use kagetsu_program::Exit;

/// Measures this program on this machine, and says how
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Signature(signature::Args),
    Seeds(seeds::Args),
    Search(search::Args),
    Threats(threats::Args),
    Book(book::Args),
    Growth(growth::Args),
    Match(matches::Args),
    Mechanisms(mechanisms::Args),
    Cluster(cluster::Args),
    Doors(doors::Args),
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    match &args.what {
        What::Signature(args) => signature::run(args, out)?,
        What::Seeds(args) => seeds::run(args, out)?,
        What::Search(args) => search::run(args, out)?,
        What::Threats(args) => threats::run(args, out)?,
        What::Book(args) => book::run(args, out)?,
        What::Growth(args) => growth::run(args, out)?,
        What::Match(args) => matches::run(args, out)?,
        What::Mechanisms(args) => mechanisms::run(args, out)?,
        What::Cluster(args) => cluster::run(args, out)?,
        What::Doors(args) => doors::run(args, out)?,
    }
    Ok(Exit::Done)
}
