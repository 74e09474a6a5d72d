use std::time::Duration;

use kagetsu_game::{Notation, Position};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::source::Source;

/// A way to read a book, with the options of its query, each with its range and default. Their doc
/// comments are the help of the command and the description of the route. The crate says what is
/// made from it.
pub trait View: clap::Args + Serialize + DeserializeOwned + ToSchema + 'static {
    /// The last part of its route, and its name over gRPC and in Python.
    const NAME: &'static str;
    /// Its command, where that has another name.
    const COMMAND: &'static str = Self::NAME;
    /// Time for which a result of a growing book may be given again: a view of the whole book reads
    /// all of it.
    const LASTS: Duration = Duration::ZERO;
    /// Whether it reads as little as a look-up, so that it waits for no other view.
    const IS_BRIEF: bool = false;
    /// The subject of the view: a [`Position`] or the [`WholeBook`].
    type At: Subject;
    /// The JSON of the result.
    type Result: Serialize + DeserializeOwned + ToSchema;

    /// Reads the book.
    ///
    /// # Errors
    /// See [`ViewError`].
    fn read(source: &Source, at: &Self::At, options: Self) -> Result<Self::Result, ViewError>;

    /// Writes a result for a person; by default as JSON.
    fn print(result: &Self::Result, _: &Self::At, _: Notation) -> Vec<TextBlock> {
        let text = serde_json::to_string_pretty(result);
        vec![TextBlock::Line(text.unwrap_or_default())]
    }
}

/// The subject of a view.
pub trait Subject: Sized {
    /// Whether the query names a position.
    const IS_POSITION: bool;

    /// Returns the subject of a query.
    ///
    /// # Errors
    /// If the position is missing, or there is one too many.
    fn of(position: Option<&Position>) -> Result<Self, ViewError>;
}

/// The subject of a view that needs no position.
#[derive(Clone, Copy, Debug)]
pub struct WholeBook;

impl Subject for Position {
    const IS_POSITION: bool = true;

    fn of(position: Option<&Position>) -> Result<Self, ViewError> {
        let missing = || ViewError::Invalid("the position is missing".into());
        position.cloned().ok_or_else(missing)
    }
}

impl Subject for WholeBook {
    const IS_POSITION: bool = false;

    fn of(position: Option<&Position>) -> Result<Self, ViewError> {
        match position {
            None => Ok(Self),
            Some(_) => Err(ViewError::Invalid(
                "this view is about the whole book: leave the position out".into(),
            )),
        }
    }
}
