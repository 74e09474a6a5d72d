//! The command `kagetsu bench`: measurements, each of which prints its own method.
//!
//! The crate refuses any part that another program needs.
#![forbid(unsafe_code)]

mod book;
mod cluster;
mod matches;
mod openings;
mod report;
mod search;
mod seeds;

use std::io::Write;

use anyhow::Result;
use clap::{Parser, Subcommand};
use kagetsu_program::{Exit, LogArgs};
use serde_json::json;

/// Measures Kagetsu on this machine; each measurement prints its method
#[derive(Debug, Parser)]
#[command(
    name = "kagetsu-bench",
    bin_name = "kagetsu bench",
    version,
    max_term_width = 100
)]
#[command(after_help = "Example: kagetsu bench signature")]
pub struct BenchCli {
    #[command(subcommand)]
    command: Command,
    /// Prints the figures as one line of JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Number of positions visited by ten fixed searches, the same on every machine
    ///
    /// Example: kagetsu bench signature
    Signature,
    Seeds(seeds::Args),
    Search(search::Args),
    Match(Box<matches::Args>),
    Book(Box<book::Args>),
    Cluster(cluster::Args),
}

impl BenchCli {
    /// Runs the measurement. Results go to `out`, messages to stderr.
    ///
    /// # Errors
    /// The reason why it failed.
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit> {
        self.log.start("warn")?;
        match &self.command {
            Command::Signature => {
                let signature = kagetsu_search::seeds::signature()?;
                report::write(out, self.json, "", &json!({"signature": signature}))?;
            }
            Command::Seeds(args) => seeds::run(args, self.json, out)?,
            Command::Search(args) => search::run(args, self.json, out)?,
            Command::Match(args) => matches::run(args, self.json, out)?,
            Command::Book(args) => book::run(args, self.json, out)?,
            Command::Cluster(args) => cluster::run(args, self.json, out)?,
        }
        Ok(Exit::Done)
    }
}
