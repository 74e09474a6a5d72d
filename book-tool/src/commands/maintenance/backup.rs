use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use kagetsu_book::{BACKUP_MARK, BackupReport};
use kagetsu_games::GameStore;
use kagetsu_postgres::{BookUrl, pull};
use kagetsu_program::{Exit, shown};
use serde::Serialize;

use kagetsu_reader::open_book;

use crate::arguments::path::refuse_stdout;
use crate::output::OutputArgs;

/// Copies a book, even while a build writes to it
///
/// The copy holds everything that was acknowledged before it began. A second backup into the same
/// folder copies only what is new. The copy has no index; the first command that opens it builds
/// one. Query it as it is, or bring it back with `kagetsu restore`.
///
/// Example: kagetsu backup --book h8.book --to /mnt/backup/h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The book folder, or a book in PostgreSQL: postgres://USER@HOST/DATABASE?book=NAME
    #[arg(long, value_name = "DIR|URL")]
    book: PathBuf,
    /// The folder of the copy: new, empty, or holding an earlier backup of the same book
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

/// Restores a book from a backup
///
/// The target folder is new or empty, or holds an older state of the same book, which is brought up
/// to the backup. Run an interrupted restore again.
///
/// Example: kagetsu restore --from /mnt/backup/h8.book --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// The folder of the backup
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The folder of the restored book
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct RestoreJson {
    #[serde(flatten)]
    report: BackupReport,
    positions: u64,
}

pub(crate) fn backup(args: &BackupArgs, out: &mut dyn Write) -> Result<Exit> {
    refuse_stdout(&args.to)?;
    let report = copy(&args.book, &args.to)?;
    GameStore::bring(&args.book, &args.to)?;
    if args.book.is_dir() {
        // For the metrics of its coordinator. The copy is whole without it.
        let _ = std::fs::write(args.book.join(BACKUP_MARK), "");
    }
    let out = &mut args.output.report(out, &report)?;
    writeln!(
        out,
        "{}: {} journal entries in {} bytes, {} of them new",
        shown(&args.to),
        report.entries,
        report.bytes,
        report.copied
    )?;
    Ok(Exit::Done)
}

/// Copies the journal of a folder, or of a database.
fn copy(book: &Path, to: &Path) -> Result<BackupReport> {
    let Some(text) = book.to_str().filter(|text| BookUrl::is_one(text)) else {
        return Ok(kagetsu_book::backup(book, to)?);
    };
    let file = to.join("journal/000001.journal");
    let size = || std::fs::metadata(&file).map_or(0, |found| found.len());
    let before = size();
    let report = pull(&BookUrl::parse(text)?, to)?;
    Ok(BackupReport {
        entries: report.entries,
        bytes: size(),
        copied: size() - before,
    })
}

pub(crate) fn restore(args: &RestoreArgs, out: &mut dyn Write) -> Result<Exit> {
    let is_url = |path: &Path| path.to_string_lossy().contains("://");
    if matches!(args.from.try_exists(), Ok(false)) && !is_url(&args.from) && !is_url(&args.book) {
        let from = args.from.display();
        bail!("there is no backup at {from}; `kagetsu backup --book BOOK --to {from}` makes one");
    }
    let report = kagetsu_book::backup(&args.from, &args.book)?;
    GameStore::bring(&args.from, &args.book)?;
    let book = open_book(&args.book, false)?;
    let positions = book.len();
    book.close()?;
    let out = &mut args
        .output
        .report(out, &RestoreJson { report, positions })?;
    writeln!(
        out,
        "{}: {positions} positions of {} journal entries",
        shown(&args.book),
        report.entries
    )?;
    Ok(Exit::Done)
}
