//! A full-screen view of a book in the terminal: board, moves, and lines.

mod view;
mod walk;

use std::io::IsTerminal;

use anyhow::{Result, bail};
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::arguments::position::PositionArgs;
use crate::arguments::query::open_at;
use crate::commands::lookup::explore::walk::{Walk, WalkStep};

/// Shows a book on the full screen of a terminal
///
/// The board is on the left, with the best moves marked; the moves of the book are on the right,
/// above the lines behind the selected one. Arrow keys select, Enter plays, Left takes back, / asks
/// for moves, c for a comment that the book keeps, ? lists all keys, q quits.
///
/// Example: kagetsu explore --book h8.kbk --variant freestyle-15 --moves h8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder, a compiled book, or the URL of a coordinator
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    place: PositionArgs,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(args: &Args) -> Result<Exit> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("explore needs a terminal; `kagetsu query` and `kagetsu tree` print the same");
    }
    let (position, reader) = open_at(&args.book, &args.access, &args.place)?;
    let book = (args.book.clone(), args.access.clone());
    let mut walk = Walk::new(reader, book, position, args.place.notation)?;
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
        if key.kind != KeyEventKind::Release && walk.press(key)? == WalkStep::End {
            return Ok(Exit::Done);
        }
    }
}
