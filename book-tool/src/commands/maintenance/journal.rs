use std::io::Write;
use std::path::{Path, PathBuf};

use crate::output::OutputArgs;
use anyhow::Result;
use kagetsu_games::GameStore;
use kagetsu_postgres::{BookUrl, TransferReport, pull, push};
use kagetsu_program::{Exit, shown};

/// Copies a book's journal between a folder and PostgreSQL
///
/// A target that has the first entries already gets the rest, so an interrupted copy may run again.
/// The journal's file in a pulled folder is the same byte for byte.
///
/// Example: kagetsu journal push --book h8.book --to 'postgres://kim@db.example/books?book=h8'
#[derive(Debug, clap::Args)]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Debug, clap::Subcommand)]
enum JournalCommand {
    /// Copies the journal of a folder into a database
    ///
    /// Example: kagetsu journal push --book h8.book --to 'postgres://db.example/books?book=h8'
    Push {
        /// The book folder
        #[arg(long, value_name = "DIR")]
        book: PathBuf,
        /// The book in the database
        // A parser of clap would show a wrong address with its password.
        #[arg(long, value_name = "URL")]
        to: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Copies the journal of a database into a folder
    ///
    /// Example: kagetsu journal pull --book 'postgres://db.example/books?book=h8' --to h8.book
    Pull {
        /// The book in the database
        #[arg(long, value_name = "URL")]
        book: String,
        /// The folder: new, empty, or holding an earlier copy of the same book
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Says that imported games do not go into a database.
fn write_games_notice(book: &Path) -> Result<()> {
    let games = GameStore::open(book)?.map_or(Ok(0), |store| store.count())?;
    if games > 0 {
        let book = shown(book);
        writeln!(
            std::io::stderr(),
            "kagetsu: the {games} imported games stay in {book}: a database holds positions alone"
        )?;
    }
    Ok(())
}

pub(crate) fn run(args: &JournalArgs, out: &mut dyn Write) -> Result<Exit> {
    let (report, target, output) = match &args.command {
        JournalCommand::Push { book, to, output } => {
            let to = BookUrl::parse(to)?;
            let report = push(book, &to)?;
            write_games_notice(book)?;
            (report, to.to_string(), output)
        }
        JournalCommand::Pull { book, to, output } => {
            let book = BookUrl::parse(book)?;
            (pull(&book, to)?, shown(to), output)
        }
    };
    let out = &mut output.report(out, &report)?;
    let TransferReport { entries, copied } = report;
    writeln!(
        out,
        "{target}: {entries} journal entries, {copied} of them new"
    )?;
    Ok(Exit::Done)
}
