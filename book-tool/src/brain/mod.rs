//! Kagetsu as an engine: what a match runner or a graphical interface starts, and talks with on stdin and stdout.

mod budget;
mod lines;
mod mind;
mod uci;

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use kagetsu_book::Choice;
use kagetsu_engines::uci::Dialect;
use kagetsu_game::Variant;
use kagetsu_program::Exit;

use crate::brain::mind::{Mind, Settings};

/// Plays as an engine: from the book first, then by search
///
/// UCI and UCCI are for xiangqi; over UCI, surakarta and gomoku are played too, with Kagetsu's own names of moves. Where
/// the book has a move it is played at once and said so in an info line; else a search answers within the limits that it is
/// given.
///
/// Example: kagetsu brain --protocol uci --variant xiangqi --book cannon.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is spoken on stdin and stdout
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    protocol: Protocol,
    /// What is played, until the other side says otherwise
    #[arg(long, default_value = "xiangqi", value_name = "VARIANT")]
    variant: Variant,
    /// A book's folder, or the URL of a coordinator
    #[arg(long, value_name = "BOOK")]
    book: Option<String>,
    /// Plies from the start of a game after which the book is not asked any more
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    book_depth: u32,
    /// Centi-units of value that make a book move e times less likely; 0 takes the best
    #[arg(long, default_value_t = 0.0, value_name = "T", value_parser = crate::pick::temperature)]
    temperature: f64,
    /// Makes the chance the same every time
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Leaves out book moves that were searched less deeply and are not proven
    #[arg(long, default_value_t = 0, value_name = "N")]
    min_depth: u8,
    /// Threads to search with
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Memory for the transposition table, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Protocol {
    /// Universal Chess Interface
    Uci,
    /// Universal Chinese Chess Interface
    Ucci,
}

/// Where an engine speaks: whole lines, each sent at once, from whichever thread.
pub(crate) type Voice = Arc<Mutex<dyn Write + Send>>;

/// Says a line. Nobody may be listening any more; then the next line that is not heard ends the engine.
pub(crate) fn say(voice: &Voice, line: &str) {
    let mut out = voice.lock().unwrap_or_else(PoisonError::into_inner);
    // The reader of stdin ends too when the other side has gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

pub(crate) fn run(args: Args) -> Result<Exit> {
    let settings = Settings {
        threads: args.threads.into(),
        table_mib: args.table_mib,
        choice: Choice { temperature: args.temperature, seed: args.seed, min_depth: args.min_depth },
        book_depth: args.book_depth,
    };
    let mut mind = Mind::new(settings);
    if let Some(book) = &args.book {
        mind.open(book)?;
    }
    let voice: Voice = Arc::new(Mutex::new(std::io::stdout()));
    let dialect = match args.protocol {
        Protocol::Uci => Dialect::Uci,
        Protocol::Ucci => Dialect::Ucci,
    };
    uci::Brain::new(dialect, args.variant, mind, voice).run(lines::read(std::io::stdin()));
    Ok(Exit::Done)
}
