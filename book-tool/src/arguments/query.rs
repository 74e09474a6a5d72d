use anyhow::Result;
use kagetsu_game::Position;
use kagetsu_proto::Access;
use kagetsu_reader::BookSource;

use crate::arguments::position::PositionArgs;

/// A position, and the book to look it up in.
#[derive(Debug, clap::Args)]
pub(crate) struct PositionQuery {
    /// A book folder, a compiled book, a certificate (`kagetsu export --format proof`), or the URL
    /// of a coordinator such as http://127.0.0.1:7615
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    place: PositionArgs,
}

impl PositionQuery {
    /// Opens the book and returns it with the position.
    ///
    /// # Errors
    /// If the position is invalid, or as in [`BookSource::open`].
    pub(crate) fn open(&self) -> Result<(Position, BookSource)> {
        Ok((
            self.place.position()?,
            BookSource::open(&self.book, &self.access)?,
        ))
    }
}
