use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_book::BackupReport;
use kagetsu_program::Exit;
use serde::Serialize;

use kagetsu_reader::open_book;
use kagetsu_terminal::json::write_json;

/// Copies a book, even while a build writes to it
///
/// The copy holds everything that was acknowledged before it began. A second backup into the same
/// folder copies only what is new. The copy has no index; the first command that opens it builds
/// one. Query it as it is, or bring it back with `kagetsu restore`.
///
/// Example: kagetsu backup --book h8.book --to /mnt/backup/h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The book folder
    #[arg(long, value_name = "DIR")]
    book: PathBuf,
    /// The folder of the copy: new, empty, or holding an earlier backup of the same book
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
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
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CopyJson {
    entries: u64,
    bytes: u64,
    copied: u64,
    /// The number of positions, after a restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<u64>,
}

impl CopyJson {
    fn new(
        BackupReport {
            entries,
            bytes,
            copied,
        }: BackupReport,
        positions: Option<u64>,
    ) -> Self {
        Self {
            entries,
            bytes,
            copied,
            positions,
        }
    }
}

pub(crate) fn backup(args: &BackupArgs, out: &mut dyn Write) -> Result<Exit> {
    let report = kagetsu_book::backup(&args.book, &args.to)?;
    if args.json {
        write_json(out, &CopyJson::new(report, None))?;
        return Ok(Exit::Done);
    }
    let BackupReport {
        entries,
        bytes,
        copied,
    } = report;
    writeln!(
        out,
        "{}: {entries} journal entries in {bytes} bytes, {copied} of them new",
        args.to.display()
    )?;
    Ok(Exit::Done)
}

pub(crate) fn restore(args: &RestoreArgs, out: &mut dyn Write) -> Result<Exit> {
    let report = kagetsu_book::backup(&args.from, &args.book)?;
    let book = open_book(&args.book, false)?;
    let positions = book.len();
    book.close()?;
    if args.json {
        write_json(out, &CopyJson::new(report, Some(positions)))?;
        return Ok(Exit::Done);
    }
    writeln!(
        out,
        "{}: {positions} positions of {} journal entries",
        args.book.display(),
        report.entries
    )?;
    Ok(Exit::Done)
}
