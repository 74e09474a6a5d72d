use std::io::Write;

use anyhow::{Result, bail};
use kagetsu_game::Position;
use kagetsu_program::Exit;

use crate::arguments::query::PositionQuery;
use crate::commands::lookup::branches::{branches, worth};
use kagetsu_reader::BookSource;
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
    asked: PositionQuery,
    /// Depth of the tree, in plies
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    plies: u8,
    /// Number of moves to show in each position
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut source) = args.asked.open()?;
    let mut branch = Branch {
        args,
        source: &mut source,
        out,
    };
    if branch.grow(&position, 0)? {
        return Ok(Exit::Done);
    }
    writeln!(std::io::stderr(), "the book does not hold {position}")?;
    Ok(Exit::No)
}

struct Branch<'a> {
    args: &'a Args,
    source: &'a mut BookSource,
    out: &'a mut dyn Write,
}

impl Branch<'_> {
    /// Prints the best moves below `position`; returns `false` if the book does not hold it.
    fn grow(&mut self, position: &Position, ply: u8) -> Result<bool> {
        let Some(answer) = self.source.lookup(position, false)? else {
            return Ok(false);
        };
        if ply == 0 {
            writeln!(self.out, "{position}")?;
        }
        for (m, verdict) in branches(self.source, position, &answer, self.args.top.into())? {
            let indent = "  ".repeat(usize::from(ply) + 1);
            let proof = verdict
                .proof
                .map_or_else(String::new, |proof| format!("  {}", table::proof(proof)));
            let name = position.write_move(m);
            let depth = if verdict.is_silent() {
                String::new()
            } else {
                format!("  depth {}", verdict.depth)
            };
            writeln!(
                self.out,
                "{indent}{name}  {}{depth}{proof}",
                worth(&verdict)
            )?;
            if ply + 1 < self.args.plies {
                let Ok(next) = position.play(m) else {
                    bail!("the book has the illegal move {name} in {position}")
                };
                self.grow(&next, ply + 1)?;
            }
        }
        Ok(true)
    }
}
