use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Reads the rows of a board that contains that of a tree; the plane has the most.
fn rows_of(text: &str) -> Result<u8, &'static str> {
    match text {
        "plane" => Ok(u8::MAX),
        _ => text
            .parse()
            .map_err(|_| "give a number of rows, as 20, or `plane`"),
    }
}

/// Checks a win tree, or the proven claims of a book, by the rules alone
///
/// For a tree (FILE), each node's move is played, and every legal reply of the loser must have an
/// answer that wins. In freestyle and standard gomoku, replies on points that do not matter to the
/// answer are not played; --every-reply plays them, too. The proven position is printed; --moves
/// and --fen say which position it must be.
///
/// For a book (--book), each proven position is checked against its moves, and each proven move
/// against the rules, the position that it leads to, or its line. A line shows a win where every
/// other reply loses at once. Claims with neither, such as most wins by open threes, cannot be
/// replayed and are listed; --play-out searches these wins again and checks them.
///
/// The exit code is 1 if a claim fails, or if no claim can be replayed.
///
/// Example: kagetsu verify h8-a1.proof
/// Example: kagetsu verify --book a1.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Win tree from `kagetsu export --format proof`; - reads stdin
    #[arg(value_name = "FILE", required_unless_present = "book")]
    pub(super) file: Option<PathBuf>,
    /// Folder of a book
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(super) book: Option<PathBuf>,
    /// Requires the tree to prove the position after these moves (from the start, or from --fen)
    #[arg(long, value_name = "MOVES", conflicts_with = "book")]
    pub(super) moves: Option<String>,
    /// Requires the tree to prove a position from this FEN
    #[arg(long, value_name = "FEN", conflicts_with = "book")]
    pub(super) fen: Option<String>,
    /// Plays every reply at every node, which takes far longer (freestyle and standard gomoku)
    #[arg(long, conflicts_with = "book")]
    pub(super) every_reply: bool,
    /// Checks a tree of freestyle or standard gomoku where its board is a part of a larger one: of
    /// N rows, or `plane` without borders. The loser may play there, too
    #[arg(long, value_name = "N", value_parser = rows_of)]
    #[arg(conflicts_with_all = ["book", "every_reply"])]
    pub(super) board: Option<u8>,
    /// Threads that share the replies at the root of a tree [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "book")]
    pub(super) threads: Option<NonZeroUsize>,
    /// Searches and checks wins without a line, with at most N positions for each (gomoku)
    #[arg(long, requires = "book", value_name = "N", num_args = 0..=1, default_missing_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) play_out: Option<u64>,
    /// Maximum number of failed claims to list, and of claims that cannot be replayed
    #[arg(long, requires = "book", default_value_t = 20, value_name = "N")]
    pub(super) list: usize,
    /// Prints one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
