mod gain;
mod page;
mod regret;
mod walks;

use std::path::PathBuf;

use kagetsu_engines::EngineAddress;
use kagetsu_game::Variant;

/// Quality of a book: coverage, regret of its moves, exit values, points in games
///
/// The book's moves are drawn by walks from its roots: the book plays its move, and the opponent's
/// replies are drawn by their value. A search with 16 times the effort of an entry judges them.
/// Games with the book against the same search without it, at a sixteenth of an entry's effort a
/// move, at the same and at four times as much, show up to which effort the book gains. Half of the
/// games begin outside the book, where it must not matter.
///
/// Example: kagetsu bench book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder or a compiled book
    #[arg(value_name = "BOOK")]
    book: String,
    /// The game, where the book has several [default: that with most positions]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    /// Moves of the book to judge
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    moves: u32,
    /// Pairs of games for each effort, half of them from outside the book
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pairs: u32,
    /// Nodes of one entry's search [default: the mean of the book]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(16..))]
    nodes: Option<u64>,
    /// A file of games, of which the share of positions in the book is counted; may be repeated
    #[arg(long, value_name = "FILE")]
    games: Vec<PathBuf>,
    /// Another program that judges the worst 20 moves too: a protocol and a command, as in
    /// uci:./engine
    #[arg(long, value_name = "PROTOCOL:COMMAND")]
    judge: Option<EngineAddress>,
    /// Draws other moves, replies and openings
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
}

pub(crate) use page::run;
