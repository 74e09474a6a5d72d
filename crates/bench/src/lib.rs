//! The command `kagetsu bench`: measurements, each of which prints its own method.
//!
//! The crate refuses any part that another program needs.
#![forbid(unsafe_code)]

mod books;
mod cluster;
mod matches;
mod mechanisms;
mod openings;
mod search;
mod seeds;
mod servers;
mod signature;
mod threats;

use std::io::Write;

use anyhow::Result;
use clap::{Parser, Subcommand};
use kagetsu_program::{Exit, LogFormat, start_log};

use crate::books::{format, growth};

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
    /// Format of log lines on stderr
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    log_format: LogFormat,
    /// Log level: off, error, warn, info, debug, trace; or by module as in kagetsu=debug,h2=warn
    #[arg(long, global = true, default_value = "warn", value_name = "LEVEL")]
    log_level: String,
}

#[derive(Debug, Subcommand)]
enum Command {
    Signature(signature::Args),
    Seeds(seeds::Args),
    Search(search::Args),
    Threats(threats::Args),
    Book(format::Args),
    Growth(growth::Args),
    Match(matches::Args),
    Mechanisms(mechanisms::Args),
    Cluster(cluster::Args),
    Doors(servers::Args),
}

impl BenchCli {
    /// Runs the measurement. Results go to `out`, messages to stderr.
    ///
    /// # Errors
    /// The reason why it failed.
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit> {
        start_log(&self.log_level, self.log_format)?;
        match &self.command {
            Command::Signature(args) => signature::run(args, out)?,
            Command::Seeds(args) => seeds::run(args, out)?,
            Command::Search(args) => search::run(args, out)?,
            Command::Threats(args) => threats::run(args, out)?,
            Command::Book(args) => format::run(args, out)?,
            Command::Growth(args) => growth::run(args, out)?,
            Command::Match(args) => matches::run(args, out)?,
            Command::Mechanisms(args) => mechanisms::run(args, out)?,
            Command::Cluster(args) => cluster::run(args, out)?,
            Command::Doors(args) => servers::run(args, out)?,
        }
        Ok(Exit::Done)
    }
}
