mod arguments;
mod certificate;
mod claim;
pub(crate) mod read_tree;
pub(crate) mod shrink;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use kagetsu_program::Exit;
use kagetsu_proofs::{FailedClaim, Findings, Ledger};
use kagetsu_search::threats::ThreatSearch;
use serde::Serialize;

use crate::output::progress::{POSITIONS_DONE, bar};
pub(crate) use arguments::Args;
use certificate::verify_file;
use claim::verify_claim;
use kagetsu_reader::read_book;

/// Bytes of the table for threat searches.
const TABLE: usize = 256 << 20;

#[derive(Serialize)]
struct BookJson {
    /// Whether no claim fails, and at least one holds if there are any.
    holds: bool,
    #[serde(flatten)]
    findings: Findings,
    time_ms: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    match (&args.book, &args.file, args.claim) {
        (Some(book), ..) => verify_book(args, book, out),
        (None, Some(file), Some(winner)) => verify_claim(args, file, winner, out),
        (None, Some(file), None) => verify_file(args, file, out),
        (None, None, _) => bail!("a FILE or a --book is needed"),
    }
}

fn verify_book(args: &Args, path: &Path, out: &mut dyn Write) -> Result<Exit> {
    let book = read_book(path)?;
    let begun = Instant::now();
    let bar = bar(Some(book.len()), POSITIONS_DONE);
    let mut ledger = Ledger::new(
        &book,
        args.list,
        args.play_out.map(|nodes| (ThreatSearch::new(TABLE), nodes)),
    );
    for entry in book.positions() {
        ledger.replay(&entry?)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let findings = ledger.findings;
    let holds = findings.holds();
    let exit = Exit::passed(holds);
    let time_ms = begun.elapsed().as_millis() as u64;
    let json = BookJson {
        holds,
        findings,
        time_ms,
    };
    let out = &mut args.output.report(out, &json)?;
    for (says, claims) in [
        ("fails", &json.findings.failed),
        ("not replayed", &json.findings.open),
    ] {
        for claim in claims {
            write_claim(out, says, claim)?;
        }
    }
    let moves = &json.findings.moves;
    for (what, count) in [("positions", &json.findings.positions), ("moves", moves)] {
        writeln!(
            out,
            "{} proven {what}: {} hold, {} cannot be replayed, {} fail",
            count.claims, count.hold, count.open, count.failed
        )?;
    }
    if json.findings.has_nothing_to_show() {
        writeln!(out, "none of these claims is verified")?;
    }
    if moves.open > 0 && args.play_out.is_none() {
        writeln!(
            out,
            "--play-out looks for the wins that the book has no line of, and has them checked"
        )?;
    }
    if json.findings.has_nothing_to_show() && moves.failed == 0 {
        writeln!(
            out,
            "`kagetsu export --format proof` writes the tree of a position, and `kagetsu verify FILE` checks that"
        )?;
    }
    Ok(exit)
}

fn write_claim(out: &mut dyn Write, what: &str, failed: &FailedClaim) -> Result<()> {
    let at = failed.at.as_ref();
    writeln!(
        out,
        "{what}: {} {} {}: {} within {} plies ({}): {}",
        at.map_or_else(|| "the position".into(), |at| format!("{at} in")),
        failed.variant,
        failed.position,
        failed.claim,
        failed.plies,
        failed.proof_kind,
        failed.why
    )?;
    Ok(())
}
