mod ledger;
pub(crate) mod win_tree;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_program::Exit;
use kagetsu_search::threats::ThreatSearch;
use kagetsu_verify::{Tree, check};
use serde::Serialize;

use crate::books::open_book;
use crate::output::json::write_json;
use ledger::{Count, FailedClaim, Findings, Ledger};

/// Bytes of what the searches for threats remember.
const TABLE: usize = 256 << 20;

/// Checks a win tree, or all that a book claims to have proven, by the rules alone
///
/// A tree (FILE) is played whole: every legal reply of the loser at every node, and the tree's answer to it. Of a book (--book)
/// each proven position is held against its moves, each proven move against the rules, the position that it leads to, or its
/// line: a line shows a win where every other reply loses at once. What has neither, as most wins by open threes, cannot
/// be replayed and is named; --play-out finds the whole win again and has that checked. Exit code 1, and what fails, if
/// something does, or if nothing of what is claimed can be replayed.
///
/// Example: kagetsu verify h8-a1.proof
/// Example: kagetsu verify --book a1.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tree, as `kagetsu export --format proof` writes it; - for stdin
    #[arg(value_name = "FILE", required_unless_present = "book")]
    file: Option<PathBuf>,
    /// The folder of a book
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    book: Option<PathBuf>,
    /// Looks for the wins of gomoku that the book has no line of, and checks how each is won: so many positions for each
    #[arg(long, requires = "book", value_name = "N", num_args = 0..=1, default_missing_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    play_out: Option<u64>,
    /// How many claims to name that fail, and how many that cannot be replayed
    #[arg(long, requires = "book", default_value_t = 20, value_name = "N")]
    list: usize,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct VerifyJson {
    holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<TreeJson>,
    /// What is wrong, and in which line.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    time_ms: u64,
}

#[derive(Serialize)]
struct TreeJson {
    variant: String,
    moves: Vec<String>,
    claim: String,
    plies: u16,
    nodes: usize,
    /// Positions of the winner that were looked at.
    positions: u64,
}

#[derive(Serialize)]
struct BookJson {
    /// Whether nothing fails, and of what is claimed something holds.
    holds: bool,
    #[serde(flatten)]
    findings: Findings,
    time_ms: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    match (&args.book, &args.file) {
        (Some(book), _) => verify_book(args, book, out),
        (None, Some(file)) => verify_file(args, file, out),
        (None, None) => bail!("a FILE or a --book is needed"),
    }
}

fn verify_book(args: &Args, path: &Path, out: &mut dyn Write) -> Result<Exit> {
    let book = open_book(path, false)?;
    let begun = Instant::now();
    let bar = ProgressBar::new(book.len());
    bar.set_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} positions, {elapsed}",
    )?);
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
    let exit = if holds { Exit::Done } else { Exit::No };
    let time_ms = begun.elapsed().as_millis() as u64;
    if args.json {
        write_json(
            out,
            &BookJson {
                holds,
                findings,
                time_ms,
            },
        )?;
        return Ok(exit);
    }
    let Findings {
        positions,
        moves,
        failed,
        open,
    } = &findings;
    failed
        .iter()
        .try_for_each(|told| write_told(out, "fails", told))?;
    open.iter()
        .try_for_each(|told| write_told(out, "not replayed", told))?;
    for (
        what,
        Count {
            claims,
            hold,
            open,
            failed,
        },
    ) in [("positions", positions), ("moves", moves)]
    {
        writeln!(
            out,
            "{claims} proven {what}: {hold} hold, {open} cannot be replayed, {failed} fail"
        )?;
    }
    if findings.has_nothing_to_show() {
        writeln!(out, "none of these claims is verified")?;
    }
    if moves.open > 0 && args.play_out.is_none() {
        writeln!(
            out,
            "--play-out looks for the wins that the book has no line of, and has them checked"
        )?;
    }
    if findings.has_nothing_to_show() && moves.failed == 0 {
        writeln!(
            out,
            "`kagetsu export --format proof` writes the tree of a position, and `kagetsu verify FILE` checks that"
        )?;
    }
    Ok(exit)
}

fn write_told(out: &mut dyn Write, what: &str, told: &FailedClaim) -> Result<()> {
    let FailedClaim {
        variant,
        position,
        at,
        claim,
        proof_kind,
        plies,
        why,
    } = told;
    let at = at
        .as_ref()
        .map_or_else(|| "the position".into(), |at| format!("{at} in"));
    writeln!(
        out,
        "{what}: {at} {variant} {position}: {claim} within {plies} plies ({proof_kind}): {why}"
    )?;
    Ok(())
}

fn verify_file(args: &Args, file: &Path, out: &mut dyn Write) -> Result<Exit> {
    let name = file.display();
    if file.is_dir() {
        bail!(
            "{name} is a folder, and a win tree is a file; `kagetsu verify --book {name}` checks what a book claims"
        );
    }
    let mut source: Box<dyn BufRead> = if file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(
            File::open(file).with_context(|| format!("cannot read {name}"))?,
        ))
    };
    let begun = Instant::now();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template(
        "{spinner} {pos} positions, {elapsed}",
    )?);
    let mut progress = |positions| bar.set_position(positions);
    let checked = Tree::read(&mut *source)
        .and_then(|tree| check(&tree, &mut progress).map(|checked| (tree, checked)));
    bar.finish_and_clear();
    let time_ms = begun.elapsed().as_millis() as u64;
    let json = match checked {
        Ok((tree, checked)) => {
            let position = &tree.position;
            let tree = TreeJson {
                variant: position.variant().to_string(),
                moves: position
                    .moves()
                    .iter()
                    .map(|&m| position.write_move(m))
                    .collect(),
                claim: tree.claim.to_string(),
                plies: checked.plies,
                nodes: tree.nodes().len(),
                positions: checked.positions,
            };
            VerifyJson {
                holds: true,
                tree: Some(tree),
                fault: None,
                line: None,
                time_ms,
            }
        }
        Err(fault) if fault.is_unreadable => bail!(
            "cannot read {name}: {fault}; a win tree is a text, as `kagetsu export --format proof` writes it; what a book claims is \
             checked in its folder, by `kagetsu verify --book DIR`"
        ),
        Err(fault) => {
            let line = Some(fault.line);
            VerifyJson {
                holds: false,
                tree: None,
                fault: Some(fault.what),
                line,
                time_ms,
            }
        }
    };
    let exit = if json.holds { Exit::Done } else { Exit::No };
    if args.json {
        write_json(out, &json)?;
        return Ok(exit);
    }
    match &json {
        VerifyJson {
            tree: Some(tree), ..
        } => {
            let TreeJson {
                variant,
                moves,
                claim,
                plies,
                nodes,
                positions,
            } = tree;
            let line = if moves.is_empty() {
                String::new()
            } else {
                format!(" {}", moves.join(" "))
            };
            writeln!(
                out,
                "{name} holds: {variant}{line} is a {claim} for the side to move within {plies} plies"
            )?;
            writeln!(
                out,
                "{nodes} nodes, {positions} positions of the winner looked at; {time_ms} ms"
            )?;
        }
        VerifyJson { fault, line, .. } => {
            let (line, fault) = (
                line.unwrap_or_default(),
                fault.as_deref().unwrap_or_default(),
            );
            writeln!(out, "{name} does not hold: line {line}: {fault}")?;
        }
    }
    Ok(exit)
}
