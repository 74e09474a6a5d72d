use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_program::Exit;
use kagetsu_verify::{Tree, check};
use serde::Serialize;

use crate::cli::write_json;

/// Checks a win tree by the rules alone
///
/// Plays every legal reply of the loser at every node, and the tree's answer to it. It knows no search and no book. Exit
/// code 1, and the line that fails, if the tree does not prove what it claims.
///
/// Example: kagetsu verify h8-a1.proof
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tree, as `kagetsu export --format proof` writes it; - for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
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

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let name = args.file.display();
    let mut source: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(|| format!("cannot read {name}"))?))
    };
    let begun = Instant::now();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} positions, {elapsed}")?);
    let mut progress = |positions| bar.set_position(positions);
    let checked = Tree::read(&mut *source).and_then(|tree| check(&tree, &mut progress).map(|checked| (tree, checked)));
    bar.finish_and_clear();
    let time_ms = begun.elapsed().as_millis() as u64;
    let json = match checked {
        Ok((tree, checked)) => {
            let position = &tree.position;
            let tree = TreeJson {
                variant: position.variant().to_string(),
                moves: position.moves().iter().map(|&m| position.write_move(m)).collect(),
                claim: tree.claim.to_string(),
                plies: checked.plies,
                nodes: tree.nodes().len(),
                positions: checked.positions,
            };
            VerifyJson { holds: true, tree: Some(tree), fault: None, line: None, time_ms }
        }
        Err(fault) => {
            let line = Some(fault.line);
            VerifyJson { holds: false, tree: None, fault: Some(fault.what), line, time_ms }
        }
    };
    let exit = if json.holds { Exit::Done } else { Exit::No };
    if args.json {
        write_json(out, &json)?;
        return Ok(exit);
    }
    match &json {
        VerifyJson { tree: Some(tree), .. } => {
            let TreeJson { variant, moves, claim, plies, nodes, positions } = tree;
            let line = if moves.is_empty() { String::new() } else { format!(" {}", moves.join(" ")) };
            writeln!(out, "{name} holds: {variant}{line} is a {claim} for the side to move within {plies} plies")?;
            writeln!(out, "{nodes} nodes, {positions} positions of the winner looked at; {time_ms} ms")?;
        }
        VerifyJson { fault, line, .. } => {
            let (line, fault) = (line.unwrap_or_default(), fault.as_deref().unwrap_or_default());
            writeln!(out, "{name} does not hold: line {line}: {fault}")?;
        }
    }
    Ok(exit)
}
