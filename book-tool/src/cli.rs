use std::io::Write;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use kagetsu_program::{Exit, LogArgs};

use crate::commands::analysis::{analyze, moves, perft, tables};
use crate::commands::cluster::{certs, serve, token, workers};
use crate::commands::exchange::{annotate, export, import};
use crate::commands::jobs::{grow, manage};
use crate::commands::lookup::{explore, open, practice, query, view};
use crate::commands::maintenance::{
    backup, check, compact, compile, diff, journal, merge, prune, repair,
};
use crate::commands::verify::shrink;
use crate::commands::{bench, books, doctor, manual, verify};
use crate::help::arrange;

/// Analyses positions and builds opening books for gomoku, xiangqi and surakarta, here or on a
/// cluster.
///
/// A flag --some-name is also the environment variable KAGETSU_SOME_NAME, and the key some-name of
/// the TOML file given by --config. A flag overrides the environment, and the environment the file.
/// KAGETSU_LOG sets log filters in detail.
///
/// Exit codes: 0 done; 1 nothing found, or a failed check; 2 an error.
///
/// Example: kagetsu build --book h8.book --variant renju-15 --moves h8 --positions 100 --depth 6
#[derive(Debug, Parser)]
#[command(name = "kagetsu", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Analyze(analyze::Args),
    Build(grow::Args),
    Jobs(manage::Args),
    Query(query::Args),
    #[command(flatten)]
    View(view::ViewCommand),
    Open(open::Args),
    Explore(explore::Args),
    Practice(practice::Args),
    Check(check::Args),
    Verify(verify::Args),
    Shrink(shrink::Args),
    Merge(merge::Args),
    Diff(diff::Args),
    Prune(prune::Args),
    Compact(compact::Args),
    Repair(repair::Args),
    Backup(backup::BackupArgs),
    Restore(backup::RestoreArgs),
    Journal(journal::JournalArgs),
    Import(import::Args),
    Export(export::Args),
    Annotate(annotate::Args),
    Compile(compile::Args),
    Books(books::Args),
    Perft(perft::Args),
    Moves(moves::Args),
    Tables(tables::Args),
    Workers(workers::Args),
    Certs(certs::Args),
    Token(token::Args),
    Serve(serve::Args),
    Doctor(doctor::Args),
    Brain(kagetsu_brain::Args),
    Bench(bench::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Returns the command line of `kagetsu` with its help arranged.
#[must_use]
pub fn command() -> clap::Command {
    arrange(Cli::command())
}

impl Cli {
    /// Runs the command. Results go to `out`, messages to stderr.
    ///
    /// # Errors
    /// The reason why the command failed, with the way out.
    pub fn run(self, out: &mut dyn Write) -> Result<Exit> {
        self.log.start("warn")?;
        match self.command {
            Command::Analyze(args) => analyze::run(args, out),
            Command::Build(args) => grow::run(args, out),
            Command::Jobs(args) => manage::run(args, out),
            Command::Query(args) => query::run(&args, out),
            Command::View(args) => view::run(&args, out),
            Command::Open(args) => open::run(&args, out),
            Command::Explore(args) => explore::run(&args),
            Command::Practice(args) => practice::run(args, out),
            Command::Check(args) => check::run(&args, out),
            Command::Verify(args) => verify::run(&args, out),
            Command::Shrink(args) => shrink::run(&args, out),
            Command::Merge(args) => merge::run(&args, out),
            Command::Diff(args) => diff::run(&args, out),
            Command::Prune(args) => prune::run(&args, out),
            Command::Compact(args) => compact::run(&args, out),
            Command::Repair(args) => repair::run(&args, out),
            Command::Backup(args) => backup::backup(&args, out),
            Command::Restore(args) => backup::restore(&args, out),
            Command::Journal(args) => journal::run(&args, out),
            Command::Import(args) => import::run(&args, out),
            Command::Export(args) => export::run(&args, out),
            Command::Annotate(args) => annotate::run(&args, out),
            Command::Compile(args) => compile::run(&args, out),
            Command::Books(args) => books::run(&args, out),
            Command::Perft(args) => perft::run(&args, out),
            Command::Moves(args) => moves::run(&args, out),
            Command::Tables(args) => tables::run(&args, out),
            Command::Workers(args) => workers::run(args, out),
            Command::Certs(args) => certs::run(&args, out),
            Command::Token(args) => token::run(args, out),
            Command::Serve(args) => serve::run(&args, out),
            Command::Doctor(args) => doctor::run(&args, out),
            Command::Brain(args) => kagetsu_brain::run(args),
            Command::Bench(args) => bench::run(args),
            Command::Completions(args) => manual::completions(&args, command(), out),
            Command::Man(args) => manual::man(&args, command(), out),
        }
    }
}
