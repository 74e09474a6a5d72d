use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::output::OutputArgs;
use clap::ArgGroup;
use kagetsu_game::{Side, Variant};

/// Reads the rows of a board that contains that of a tree; the plane has the most.
fn rows_of(text: &str) -> Result<u8, &'static str> {
    match text {
        "plane" => Ok(u8::MAX),
        _ => text
            .parse()
            .map_err(|_| "give a number of rows, as 20, or `plane`"),
    }
}

/// Reads a claim, as `first-wins`.
fn winner_of(text: &str) -> Result<Side, &'static str> {
    match text {
        "first-wins" | "black-wins" => Ok(Side::First),
        "second-wins" | "white-wins" => Ok(Side::Second),
        _ => Err("give first-wins or second-wins"),
    }
}

/// Checks a win tree, or the proven claims of a book, by the rules alone
///
/// For a tree (FILE), each node's move is played, and every legal reply of the loser must have an
/// answer that wins. In freestyle, standard gomoku and for Black's wins in renju, replies on points
/// that do not matter to the answer are not played; --every-reply plays them, too. The proven
/// position is printed; --moves and --fen say which position it must be.
///
/// For a book (--book), each proven position is checked against its moves, and each proven move
/// against the rules, the position that it leads to, or its line. A line shows a win where every
/// other reply loses at once. Claims with neither, such as most wins by open threes, cannot be
/// replayed and are listed; --play-out searches these wins again and checks them.
///
/// With --claim, FILE is a tree of games, such as a library of RenLib or SGF, whose moves are to
/// prove a win. Each reply of the loser must be in it, or lose to threats that are found here. The
/// replies that it lacks are named, and the ends of lines where no threats win.
///
/// The exit code is 1 if a claim fails, or if no claim can be replayed.
///
/// Example: kagetsu verify h8-a1.proof
/// Example: kagetsu verify d4.lib --variant renju-15 --claim black-wins --moves "h8 h9 i9"
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("claims").args(["book", "claim"])))]
pub(crate) struct Args {
    /// Win tree from `kagetsu export --format proof`, or a file of games; - reads stdin
    #[arg(value_name = "FILE", required_unless_present = "book")]
    pub(super) file: Option<PathBuf>,
    /// Folder of a book
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(super) book: Option<PathBuf>,
    /// Checks a file of games as a proof of this claim: first-wins (black-wins) or second-wins
    /// (white-wins)
    #[arg(long, value_name = "CLAIM", value_parser = winner_of)]
    pub(super) claim: Option<Side>,
    /// Game of a file that does not say it, as renju-15
    #[arg(long, value_name = "VARIANT", requires = "claim")]
    pub(super) variant: Option<Variant>,
    /// Positions that the search for threats may visit, for each reply
    #[arg(long, value_name = "N", requires = "claim", default_value_t = 100_000)]
    pub(super) nodes: u64,
    /// Requires the tree to prove the position after these moves (from the start, or from --fen);
    /// with --claim the position that is won [default: the first of the file]
    #[arg(long, value_name = "MOVES", conflicts_with = "book")]
    pub(super) moves: Option<String>,
    /// Requires the tree to prove a position from this FEN
    #[arg(long, value_name = "FEN", conflicts_with = "claims")]
    pub(super) fen: Option<String>,
    /// Plays every reply at every node, which takes far longer where there are zones
    #[arg(long, conflicts_with = "claims")]
    pub(super) every_reply: bool,
    /// Checks a tree of freestyle or standard gomoku where its board is a part of a larger one: of
    /// N rows, or `plane` without borders. The loser may play there, too
    #[arg(long, value_name = "N", value_parser = rows_of)]
    #[arg(conflicts_with_all = ["claims", "every_reply"])]
    pub(super) board: Option<u8>,
    /// Threads that share the replies at the root of a tree [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "claims")]
    pub(super) threads: Option<NonZeroUsize>,
    /// Searches and checks wins without a line, with at most N positions for each (gomoku)
    #[arg(long, requires = "book", value_name = "N", num_args = 0..=1, default_missing_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) play_out: Option<u64>,
    /// Maximum number of failed claims to list, and of claims that cannot be replayed, or of gaps
    #[arg(long, requires = "claims", default_value_t = 20, value_name = "N")]
    pub(super) list: usize,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}
