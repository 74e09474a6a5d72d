use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use kagetsu_certificate::Tree;
use kagetsu_files::{Readers, replace_file};
use kagetsu_game::Position;
use kagetsu_program::{Exit, shown};
use kagetsu_proofs::{NodeCounts, shrink};
use serde::Serialize;

use super::read_tree::read_tree;
use crate::arguments::path::refuse_stdout;
use crate::output::OutputArgs;
use crate::output::progress::bar;

/// Joins win trees into one, and makes it smaller
///
/// Each position is proven again with what is there: answers to other replies, and ways to win
/// that the tree has elsewhere. No position is searched. The result is never larger than the trees
/// together; `kagetsu verify` checks it.
///
/// With --moves the trees must prove what each legal reply to these moves leads to, up to symmetry.
/// Trees of renju and caro are joined only; other games are not supported.
///
/// Example: kagetsu shrink --out h8-j8.proof freestyle-15-h8-j8.proof
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write, which must not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The position to prove [default: that of the only tree]
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
    /// Win trees from `kagetsu export --format proof`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct ShrinkJson {
    file: String,
    /// Nodes of all trees that were read.
    before: usize,
    #[serde(flatten)]
    size: NodeCounts,
    plies: u16,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    refuse_stdout(&args.out)?;
    let name = shown(&args.out);
    if args.out.exists() {
        bail!("{name} is there already; remove it, or name another file");
    }
    let read = args
        .files
        .iter()
        .map(|path| read_tree(path).with_context(|| path.display().to_string()));
    let trees = read.collect::<Result<Vec<Tree>>>()?;
    let position = match (&args.moves, &trees[..]) {
        (Some(line), [first, ..]) => {
            Position::from_line(first.position.variant(), line).context("--moves")?
        }
        (None, [only]) => only.position.clone(),
        _ => bail!("several trees need --moves: the position that they prove together"),
    };
    let bar = bar(None, "{pos} positions, {elapsed}");
    let small = shrink(&position, &trees, &|done| bar.set_position(done))?;
    bar.finish_and_clear();
    replace_file(&args.out, Readers::Usual, |out| small.write(out))
        .with_context(|| format!("cannot write {name}"))?;
    let before = trees.iter().map(|tree| tree.nodes().len()).sum();
    let size = NodeCounts::of(&small);
    let json = ShrinkJson {
        file: args.out.display().to_string(),
        before,
        size,
        plies: small.plies,
    };
    let out = &mut args.output.report(out, &json)?;
    writeln!(
        out,
        "{name}: {}, {before} nodes before; a {} within {} plies",
        json.size, small.claim, small.plies
    )?;
    Ok(Exit::Done)
}
