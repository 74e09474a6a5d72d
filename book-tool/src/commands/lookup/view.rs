//! The commands that are made from the registry of views.

use std::io::Write;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use kagetsu_game::{Notation, Position};
use kagetsu_program::Exit;
use kagetsu_reader::{RegisteredView, TextBlock, VIEWS, ViewError};
use kagetsu_terminal::json::write_json_text;
use kagetsu_terminal::table;

use crate::arguments::query::{BookArgs, BookPosition};
use crate::output::OutputArgs;

/// The view whose command has a file of its own: `query`.
const WITH_OWN_COMMAND: &str = "book";

/// A command that reads a view.
#[derive(Debug)]
pub(crate) struct ViewCommand {
    view: &'static RegisteredView,
    subject: ViewPlace,
    /// The options as JSON.
    options: String,
    json: bool,
}

/// The book, and the position in it that the command is about.
#[derive(Debug)]
enum ViewPlace {
    Book(BookArgs),
    Position(BookPosition),
}

fn views() -> impl Iterator<Item = &'static RegisteredView> {
    let mut views = VIEWS.iter();
    std::iter::from_fn(move || views.find(|view| view.name != WITH_OWN_COMMAND))
}

fn command(view: &RegisteredView) -> Command {
    let command = Command::new(view.command);
    let command = if view.at_position {
        BookPosition::augment_args(command)
    } else {
        BookArgs::augment_args(command)
    };
    let (about, long) = view.help();
    OutputArgs::augment_args((view.arguments)(command))
        .about(about)
        .long_about(long)
}

impl Subcommand for ViewCommand {
    fn augment_subcommands(command: Command) -> Command {
        views().fold(command, |all, view| all.subcommand(self::command(view)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        views().any(|view| view.command == name)
    }
}

impl FromArgMatches for ViewCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let view = views().find(|view| view.command == name);
        let view = view.ok_or_else(missing)?;
        let subject = if view.at_position {
            ViewPlace::Position(BookPosition::from_arg_matches(matches)?)
        } else {
            ViewPlace::Book(BookArgs::from_arg_matches(matches)?)
        };
        Ok(Self {
            view,
            subject,
            options: (view.matched)(matches)?,
            json: OutputArgs::from_arg_matches(matches)?.json,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Reads the view and writes its result.
///
/// # Errors
/// If the position is invalid, or the book cannot be read.
pub(crate) fn run(command: &ViewCommand, out: &mut dyn Write) -> Result<Exit> {
    let view = command.view;
    let (position, source, notation) = match &command.subject {
        ViewPlace::Position(at) => {
            let (position, source) = at.open()?;
            (Some(position), source, at.place.notation)
        }
        ViewPlace::Book(book) => (None, book.open()?, Notation::Engine),
    };
    let json = match view.read(&source, position.as_ref(), &command.options) {
        Ok(json) => json,
        Err(error) => return no_result(error),
    };
    if command.json {
        write_json_text(out, &json)?;
    } else {
        write_result(view, &json, position.as_ref(), notation, out)?;
    }
    Ok(Exit::Done)
}

/// Says on stderr that the book has nothing to show; any other error is one of the command.
///
/// # Errors
/// The error, if it is no answer.
pub(super) fn no_result(error: ViewError) -> Result<Exit> {
    if !error.is_nothing() {
        return Err(match error {
            ViewError::Failed(error) => error,
            error => error.into(),
        });
    }
    writeln!(std::io::stderr(), "{error}")?;
    Ok(Exit::No)
}

/// Writes a result for a person.
///
/// # Errors
/// If `out` is closed.
pub(super) fn write_result(
    view: &RegisteredView,
    json: &str,
    at: Option<&Position>,
    notation: Notation,
    out: &mut dyn Write,
) -> Result<()> {
    for block in (view.print)(json, at, notation)? {
        match block {
            TextBlock::Line(line) => writeln!(out, "{line}")?,
            TextBlock::Note(note) => writeln!(std::io::stderr(), "{note}")?,
            TextBlock::Table { heads, right, rows } => table::write(out, &heads, &right, rows)?,
        }
    }
    Ok(())
}
