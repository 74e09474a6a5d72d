//! Kagetsu as an engine: what a match runner or a graphical interface starts, and talks with on stdin and stdout.

mod budget;
mod gomocup;
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
use kagetsu_proto::Access;

use crate::commands::brain::mind::{Mind, Settings};

/// Plays as an engine: from the book first, then by search
///
/// `gomocup` is for gomoku, `uci` and `ucci` for xiangqi; over UCI the other games are played too, with Kagetsu's own names
/// of moves. Where the book has a move it is played at once and said so; else a search answers within the limits that it is
/// given. `pbrain-kagetsu` is the same as `kagetsu brain --protocol gomocup`.
///
/// Example: kagetsu brain --protocol uci --variant xiangqi --book cannon.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is spoken on stdin and stdout
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    protocol: Protocol,
    /// What is played by UCI and UCCI, until the other side says otherwise
    #[arg(long, default_value = "xiangqi", value_name = "VARIANT")]
    variant: Variant,
    #[command(flatten)]
    play: PlayArgs,
}

/// How an engine plays.
#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// A book's folder, a compiled book, or the URL of a coordinator
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Plies from the start of a game after which the book is not asked any more
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    book_depth: u32,
    /// Centi-units of value that make a book move e times less likely; 0 takes the best
    #[arg(long, default_value_t = 0.0, value_name = "T", value_parser = crate::commands::lookup::pick::temperature)]
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
    /// Memory for the transposition table, in MiB; a manager may allow less
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Protocol {
    /// Gomocup's, of Piskvork and its relatives, with the words of Yixin
    Gomocup,
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
    let Args {
        protocol,
        variant,
        play,
    } = args;
    match protocol {
        Protocol::Gomocup => gomocup(&play),
        Protocol::Uci => uci(Dialect::Uci, variant, &play),
        Protocol::Ucci => uci(Dialect::Ucci, variant, &play),
    }
}

/// Plays gomoku by Gomocup's protocol on stdin and stdout, until it is told to end.
///
/// # Errors
/// A book that cannot be opened.
pub fn gomocup(play: &PlayArgs) -> Result<Exit> {
    gomocup::Brain::new(mind(play)?, voice()).run(lines::read(std::io::stdin()));
    Ok(Exit::Done)
}

fn uci(dialect: Dialect, variant: Variant, play: &PlayArgs) -> Result<Exit> {
    uci::Brain::new(dialect, variant, mind(play)?, voice()).run(lines::read(std::io::stdin()));
    Ok(Exit::Done)
}

fn voice() -> Voice {
    Arc::new(Mutex::new(std::io::stdout()))
}

fn mind(play: &PlayArgs) -> Result<Mind> {
    let choice = Choice {
        temperature: play.temperature,
        seed: play.seed,
        min_depth: play.min_depth,
        margin: None,
    };
    let (threads, table_mib, book_depth) = (play.threads.into(), play.table_mib, play.book_depth);
    let mut mind = Mind::new(Settings {
        threads,
        table_mib,
        choice,
        book_depth,
    })
    .through(play.access.clone());
    if let Some(book) = &play.book {
        mind.open(book)?;
    }
    Ok(mind)
}
