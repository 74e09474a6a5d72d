use std::io::Write;

use anyhow::{Result, bail};
use kagetsu_api::{BranchJson, TreeJson, ValueJson};
use kagetsu_game::{Notation, Position, Verdict};
use kagetsu_program::Exit;

use crate::arguments::query::BookPosition;
use crate::commands::lookup::branches::{branches, worth};
use kagetsu_reader::{BookReader, not_held};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// Prints the best lines of a book as a tree
///
/// Each row shows a move, its value from the view of the side that makes it, and its depth. Moves
/// without a value follow: the number of times that they were played, or their upper bound if they
/// lead into the book. The exit code is 1 if the book does not hold the position.
///
/// Example: kagetsu tree --book h8.book --variant freestyle-15 --moves h8 --plies 4
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    book_position: BookPosition,
    /// Depth of the tree, in plies
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    plies: u8,
    /// Number of moves to show in each position
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// A move of the tree, with the moves behind it.
struct TreeMove {
    name: String,
    verdict: Verdict,
    behind: Vec<TreeMove>,
}

impl From<TreeMove> for BranchJson {
    fn from(grown: TreeMove) -> Self {
        Self {
            r#move: grown.name,
            value: ValueJson::of(&grown.verdict),
            depth: grown.verdict.depth,
            branches: grown.behind.into_iter().map(Self::from).collect(),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut reader) = args.book_position.open()?;
    let notation = if args.json {
        Notation::Engine
    } else {
        args.book_position.notation()
    };
    let mut grower = Grower {
        args,
        source: &mut *reader,
        notation,
    };
    let Some(grown) = grower.grow(&position, 0)? else {
        writeln!(std::io::stderr(), "{}", not_held(&mut *reader, &position)?)?;
        return Ok(Exit::No);
    };
    if args.json {
        let tree = TreeJson {
            variant: position.variant().to_string(),
            moves: position.write_line_in(position.moves(), Notation::Engine),
            branches: grown.into_iter().map(BranchJson::from).collect(),
            is_cut: false,
        };
        write_json(out, &tree)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{position}")?;
    write_moves(&grown, 1, out)?;
    Ok(Exit::Done)
}

fn write_moves(moves: &[TreeMove], indent: usize, out: &mut dyn Write) -> Result<()> {
    for grown in moves {
        let row = row(&grown.name, &grown.verdict);
        writeln!(out, "{}{row}", "  ".repeat(indent))?;
        write_moves(&grown.behind, indent + 1, out)?;
    }
    Ok(())
}

/// Grows the tree of the best moves.
struct Grower<'a> {
    args: &'a Args,
    source: &'a mut dyn BookReader,
    notation: Notation,
}

impl Grower<'_> {
    /// Returns the best moves below `position`; `None` if the book does not hold it.
    fn grow(&mut self, position: &Position, ply: u8) -> Result<Option<Vec<TreeMove>>> {
        let Some(answer) = self.source.lookup(position)? else {
            return Ok(None);
        };
        let mut grown = Vec::new();
        for (m, verdict) in branches(self.source, position, &answer, self.args.top.into())? {
            let name = position.write_move_in(m, self.notation);
            let mut below = None;
            if ply + 1 < self.args.plies {
                let Ok(next) = position.play(m) else {
                    bail!("the book has the illegal move {name} in {position}")
                };
                below = self.grow(&next, ply + 1)?;
            }
            grown.push(TreeMove {
                name,
                verdict,
                behind: below.unwrap_or_default(),
            });
        }
        Ok(Some(grown))
    }
}

/// Writes a move with its value, depth and proof.
fn row(name: &str, verdict: &Verdict) -> String {
    let proof = verdict
        .proof
        .map_or_else(String::new, |proof| format!("  {}", table::proof(proof)));
    let depth = if verdict.is_silent() {
        String::new()
    } else {
        format!("  depth {}", verdict.depth)
    };
    format!("{name}  {}{depth}{proof}", worth(verdict))
}
