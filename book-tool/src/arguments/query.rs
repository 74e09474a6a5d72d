use std::io::Write;

use anyhow::{Result, bail};
use kagetsu_book::Overview;
use kagetsu_files::installed_books;
use kagetsu_game::{Position, Variant};
use kagetsu_proto::Access;
use kagetsu_reader::Source;

use crate::arguments::position::PositionArgs;

/// A book to read.
#[derive(Debug, clap::Args)]
pub(crate) struct BookArgs {
    /// A book folder, a compiled book, or the URL of a coordinator such as http://127.0.0.1:7615
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    access: Access,
}

impl BookArgs {
    /// Opens the book.
    ///
    /// # Errors
    /// As in [`kagetsu_reader::open`].
    pub(crate) fn open(&self) -> Result<Source> {
        kagetsu_reader::open(&self.book, &self.access)
    }
}

/// A position, and the book to look it up in.
#[derive(Debug, clap::Args)]
pub(crate) struct BookPosition {
    /// A book folder, a compiled book, a certificate (`kagetsu export --format proof`), the name of
    /// an installed book or `auto` (`kagetsu books`), or the URL of a coordinator such as
    /// http://127.0.0.1:7615
    #[arg(long, value_name = "BOOK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    book: String,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    pub(crate) place: PositionArgs,
}

impl BookPosition {
    /// Opens the book and returns it with the position. See [`open_at`].
    ///
    /// # Errors
    /// If the position is invalid, or as in [`kagetsu_reader::open`].
    pub(crate) fn open(&self) -> Result<(Position, Source)> {
        open_at(&self.book, &self.access, &self.place)
    }
}

/// Returns the only game of a book.
///
/// # Errors
/// If the book holds no game or several; the message names them.
pub(crate) fn only_variant(overview: &Overview, book: &str) -> Result<Variant> {
    match &overview.variants[..] {
        [only] => Ok(only.variant),
        [] => bail!("the book {book} is empty or does not say its game; give --variant"),
        several => {
            let held: Vec<String> = several
                .iter()
                .map(|held| format!("{} ({} positions)", held.variant, held.positions))
                .collect();
            bail!(
                "the book {book} holds several games: {}; choose one by --variant",
                held.join(", ")
            )
        }
    }
}

/// Opens the first installed book of a game.
fn installed(variant: Variant) -> Result<Source> {
    for path in installed_books() {
        let book = kagetsu_reader::open_files(&path)?;
        if book.overview()?.variant(variant).is_some() {
            return Ok(book);
        }
    }
    bail!("no book of {variant} is installed; `kagetsu books get NAME --from PLACE` installs one")
}

/// Opens a book and returns it with the position that was asked for. Without --variant the only
/// game of the book is meant; without a position the only root, if the book does not hold the
/// start.
///
/// # Errors
/// If the position is invalid, the book holds several games, or as in [`kagetsu_reader::open`].
pub(crate) fn open_at(
    book: &str,
    access: &Access,
    place: &PositionArgs,
) -> Result<(Position, Source)> {
    // A wrong position is reported before a server is asked.
    let given = place.variant.map(|variant| place.position_of(variant));
    let given = given.transpose()?;
    let reader = match (book, place.variant) {
        ("auto", Some(variant)) => installed(variant)?,
        ("auto", None) => bail!("--book auto is the installed book of a game; give --variant"),
        _ => kagetsu_reader::open(book, access)?,
    };
    let is_clear = given.is_some() && !place.is_bare();
    if let Some(position) = &given
        && (is_clear || reader.lookup(position)?.is_some())
    {
        return Ok((position.clone(), reader));
    }
    let overview = reader.overview()?;
    let variant = match place.variant {
        Some(variant) => variant,
        None => only_variant(&overview, book)?,
    };
    let position = match given {
        Some(position) => position,
        None => place.position_of(variant)?,
    };
    if !place.is_bare() || reader.lookup(&position)?.is_some() {
        return Ok((position, reader));
    }
    let held = overview.variant(variant);
    let roots = held.map_or(&[][..], |held| &held.roots);
    if let [root, others @ ..] = roots
        && root.positions > 0
    {
        let rest = if others.is_empty() {
            String::new()
        } else {
            format!("; `kagetsu stats` lists its other roots ({})", others.len())
        };
        writeln!(
            std::io::stderr(),
            "kagetsu: the book begins at {}{rest}",
            root.position
        )?;
        return Ok((root.position.clone(), reader));
    }
    Ok((position, reader))
}
