//! The book on a full screen of a terminal: board, moves, and the lines behind them.

mod view;
mod walk;

use std::io::IsTerminal;

use anyhow::{Result, bail};
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::arguments::position::Place;
use crate::books::Source;
use crate::commands::lookup::explore::walk::{Step, Walk};

/// Walks through a book on the whole screen of a terminal
///
/// Left the board with the best moves marked, right the book's moves with their values, below them the lines behind the one
/// that is chosen. Arrow keys choose, Enter and right play, left goes back, / takes moves to play, ? shows all keys, q ends.
///
/// Example: kagetsu explore --book h8.kbk --variant freestyle-15 --moves h8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book's folder, a compiled book, or the URL of a coordinator
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(args: &Args) -> Result<Exit> {
    let position = args.place.position()?;
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("explore needs a terminal; `kagetsu query` and `kagetsu tree` print the same");
    }
    let mut walk = Walk::new(Source::open(&args.book, &args.access)?, position)?;
    let mut terminal = ratatui::try_init()?;
    let walked = walk_on(&mut walk, &mut terminal);
    ratatui::try_restore()?;
    walked
}

fn walk_on(walk: &mut Walk, terminal: &mut ratatui::DefaultTerminal) -> Result<Exit> {
    loop {
        terminal.draw(|frame| view::draw(walk, frame))?;
        let Event::Key(key) = event::read()? else {
            continue;
        };
        if key.kind != KeyEventKind::Release && walk.press(key)? == Step::End {
            return Ok(Exit::Done);
        }
    }
}
