use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_compiled::{Compiled, apply_delta};
use kagetsu_program::{Exit, shown};

/// Makes the newer version of a compiled book from the older one and a delta
///
/// `kagetsu compile --delta` writes deltas. The result has the same bytes as the newer book. A
/// delta of another book is refused. --out may name the older book, which is then replaced;
/// programs that have it open keep it.
///
/// Example: kagetsu patch --book h8.kbk --delta h8.kbk.delta --out h8.kbk
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The older compiled book
    #[arg(long, value_name = "FILE")]
    book: PathBuf,
    /// The delta
    #[arg(long, value_name = "FILE")]
    delta: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let old = Compiled::open(&args.book)?;
    let report = apply_delta(&old, &args.delta, &args.out)?;
    let name = shown(&args.out);
    let (positions, bytes) = (report.positions, report.bytes);
    writeln!(out, "{name}: {positions} positions, {bytes} bytes")?;
    Ok(Exit::Done)
}
