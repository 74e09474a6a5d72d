//! Kagetsu as an engine that a match runner or a graphical interface starts.
//!
//! The crate refuses rules of its own, and any search but that of `kagetsu-search`.
#![forbid(unsafe_code)]

mod books;
mod budget;
mod gomocup;
mod lines;
mod move_finder;
mod output;
mod program;
mod source;
mod uci;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use kagetsu_compiled::Choice;
use kagetsu_engines::uci::Dialect;
use kagetsu_game::Variant;
use kagetsu_program::{Exit, take_file};
use kagetsu_search::give_end_tables;
use parking_lot::Mutex;

pub use crate::books::BookChoice;
use crate::move_finder::{MoveFinder, Settings};
use crate::output::EngineOutput;
pub use crate::program::EngineProgram;
use crate::source::Access;

/// The name that stands for all installed books.
const AUTO: &str = "auto";

/// Plays as an engine: from the book first, then by search
///
/// The protocol `gomocup` is for gomoku, `uci` and `ucci` are for xiangqi; `uci` also plays the
/// other games, with moves in Kagetsu's notation. UCI counts the ranks of xiangqi from 1 to 10,
/// UCCI from 0 to 9 as Kagetsu does. A book move is played at once and announced;
/// without one, a search answers within the limits of the manager. The programs `pbrain-kagetsu`,
/// `uci-kagetsu` and `ucci-kagetsu` do the same without arguments.
///
/// Example: kagetsu brain --protocol uci --book cannon.book
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The protocol on stdin and stdout
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    protocol: BrainProtocol,
    /// The game of UCI and UCCI, until an option changes it
    #[arg(long, default_value = "xiangqi-chase", value_name = "VARIANT")]
    variant: Variant,
    #[command(flatten)]
    play: PlayArgs,
}

/// The settings of an engine.
#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// A book folder, a compiled book, an installed book (`kagetsu books`), or the URL of a
    /// coordinator; first=BOOK or second=BOOK for one side only; repeat the flag for several, of
    /// which the first with a move is used; `auto` for all installed books, `none` for no book
    #[arg(long, default_value = AUTO, value_name = "BOOK", value_parser = book_parser())]
    book: Vec<BookChoice>,
    #[command(flatten)]
    access: Access,
    /// Plies from the start after which the book is not used
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    book_depth: u32,
    /// Loss of value, in centi-units, that makes a book move e times less likely; 0 plays the best
    /// move
    #[arg(long, default_value_t = 0.0, value_name = "T", value_parser = temperature)]
    temperature: f64,
    /// Seed of the random generator
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Skips unproven book moves that were searched less deeply than N plies
    #[arg(long, default_value_t = 0, value_name = "N")]
    min_depth: u8,
    /// Leaves the book where its searches behind an unproven move visited fewer nodes; 0 never does
    /// [default: as many as the engine's own search would visit]
    #[arg(long, value_name = "N")]
    min_nodes: Option<u64>,
    /// Number of search threads
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Memory for the transposition table, in MiB; a manager may allow less. Without it, half of
    /// what a manager allows, else 128
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: Option<u64>,
    /// End tables of surakarta, from `kagetsu tables`
    #[arg(long, value_name = "FILE",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    tables: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BrainProtocol {
    /// Gomocup (Piskvork), with extensions of Yixin
    Gomocup,
    /// Universal Chess Interface
    Uci,
    /// Universal Chinese Chess Interface
    Ucci,
}

fn book_parser() -> impl clap::builder::TypedValueParser<Value = BookChoice> {
    let text = clap::builder::NonEmptyStringValueParser::new();
    clap::builder::TypedValueParser::try_map(text, |text| text.parse::<BookChoice>())
}

/// Reads a temperature.
///
/// # Errors
/// If the text is no number of 0 or more.
pub fn temperature(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err("must be 0 or more".into())
    }
}

/// Plays by the protocol of `args` on stdin and stdout, until the manager ends it.
///
/// # Errors
/// If the book cannot be opened.
pub fn run(args: Args) -> Result<Exit> {
    let Args {
        protocol,
        variant,
        play,
    } = args;
    match protocol {
        BrainProtocol::Gomocup => gomocup(&play),
        BrainProtocol::Uci => uci(Dialect::Uci, variant, &play),
        BrainProtocol::Ucci => uci(Dialect::Ucci, variant, &play),
    }
}

fn gomocup(play: &PlayArgs) -> Result<Exit> {
    gomocup::GomocupBrain::new(finder(play)?, output()).run(lines::read(std::io::stdin()));
    Ok(Exit::Done)
}

fn uci(dialect: Dialect, variant: Variant, play: &PlayArgs) -> Result<Exit> {
    uci::UciBrain::new(dialect, variant, finder(play)?, output())
        .run(lines::read(std::io::stdin()));
    Ok(Exit::Done)
}

fn output() -> EngineOutput {
    Arc::new(Mutex::new(std::io::stdout()))
}

fn finder(play: &PlayArgs) -> Result<MoveFinder> {
    let choice = Choice {
        temperature: play.temperature,
        seed: play.seed,
        min_depth: play.min_depth,
        margin: None,
    };
    let (threads, table_mib, book_depth) = (play.threads.into(), play.table_mib, play.book_depth);
    let mut finder = MoveFinder::new(Settings {
        threads,
        table_mib,
        choice,
        book_depth,
        min_nodes: play.min_nodes,
    })
    .through(play.access.clone());
    for book in &play.book {
        match &*book.name {
            "none" => {}
            AUTO => finder.add_installed(),
            _ => finder.add(book)?,
        }
    }
    Ok(finder)
}
