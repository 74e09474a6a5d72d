use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use kagetsu_book::CheckReport;
use kagetsu_program::{Exit, signing_key};
use minisign_verify::Signature;
use serde::Serialize;

use crate::arguments::path::check_is_there;
use crate::output::OutputArgs;
use crate::output::progress::bar;

/// Checks a book's integrity: checksums, keys, links, derived values and counts
///
/// The exit code is 1 if something is wrong.
///
/// --public-key also checks the signature FILE.minisig, which `minisign -S -m FILE` makes.
///
/// Example: kagetsu check --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book folder, or a compiled book
    #[arg(long, value_name = "DIR|FILE")]
    book: PathBuf,
    /// A public key of minisign, or its file: the compiled book must have a signature by it
    #[arg(long, value_name = "KEY|FILE")]
    public_key: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct CheckJson {
    clean: bool,
    #[serde(flatten)]
    report: CheckReport,
    time_ms: u64,
}

/// Checks the signature beside a file.
///
/// # Errors
/// If there is none, it is of another key or of another file, or the key is none.
pub(crate) fn check_signature(path: &Path, key: &str) -> Result<()> {
    let key = signing_key("--public-key", key)?;
    let mut name = path.as_os_str().to_os_string();
    name.push(".minisig");
    let name = PathBuf::from(name);
    let signature = kagetsu_files::read_text(&name).with_context(|| {
        format!(
            "{} cannot be read; `minisign -S -m FILE` makes it",
            name.display()
        )
    })?;
    let wrong = || format!("{} is not signed by this key", path.display());
    let signature = Signature::decode(&signature).with_context(wrong)?;
    // Only signatures of a digest can be checked without the whole file in memory.
    let mut verifier = key.verify_stream(&signature).with_context(wrong)?;
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut piece = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            return verifier.finalize().with_context(wrong);
        }
        verifier.update(&piece[..length]);
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    check_is_there(&args.book)?;
    if let Some(key) = &args.public_key {
        check_signature(&args.book, key)?;
    }
    let book = kagetsu_reader::open_files(&args.book)?;
    let steps = book.positions().unwrap_or_default();
    let bar = bar(Some(steps), "{bar:40} {pos}/{len} positions, {eta} left");
    let begun = Instant::now();
    let report = book.check(&mut |done| bar.set_position(done))?;
    bar.finish_and_clear();
    let clean = report.is_clean();
    let time_ms = begun.elapsed().as_millis() as u64;
    let json = CheckJson {
        clean,
        report,
        time_ms,
    };
    let out = &mut args.output.report(out, &json)?;
    let report = json.report;
    for fault in &report.faults {
        writeln!(out, "{fault}")?;
    }
    let faults = match report.count {
        0 => "nothing is wrong".into(),
        count => format!("{count} faults"),
    };
    writeln!(
        out,
        "{} positions, {} links, {} waiting: {faults} ({time_ms} ms)",
        report.positions, report.links, report.frontier
    )?;
    Ok(Exit::passed(clean))
}
