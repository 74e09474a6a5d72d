//! Arguments that `import` and `export` share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kagetsu_formats::{Format, ZobristKeys};

/// A format as a value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatArg {
    /// A book or games.
    Book(Format),
    /// The win tree of one position.
    Proof,
    /// A folder of static files that shows a book.
    Site,
}

impl FormatArg {
    fn all() -> impl Iterator<Item = Self> {
        Format::ALL
            .into_iter()
            .map(Self::Book)
            .chain([Self::Proof, Self::Site])
    }

    fn value(self) -> PossibleValue {
        match self {
            Self::Book(format) => PossibleValue::new(format.name()).help(format.description()),
            Self::Proof => PossibleValue::new("proof")
                .help("The win tree of one position, as `kagetsu verify` checks it"),
            Self::Site => PossibleValue::new("site")
                .help("A folder of static files: the page with the book and an engine"),
        }
    }

    /// Returns the format: the one given, or the one that the ending of the file's name tells.
    ///
    /// # Errors
    /// If none is given and the ending tells none.
    pub(super) fn of(given: Option<Self>, file: &Path) -> Result<Self> {
        let is_proof = file.extension().is_some_and(|ending| ending == "proof");
        let by_ending = || match Format::of_file(file) {
            _ if is_proof => Some(Self::Proof),
            format => format.map(Self::Book),
        };
        given.or_else(by_ending).with_context(|| {
            let file = file.display();
            format!("the ending of {file} tells no format: give --format; --help lists them")
        })
    }
}

/// Reads `--format` of a command; the help lists the formats that the command `can` handle.
pub(super) fn format_parser(
    can: fn(Format) -> bool,
    proof: bool,
) -> impl TypedValueParser<Value = FormatArg> {
    let value = move |format: FormatArg| {
        let is_listed = match format {
            FormatArg::Book(format) => can(format),
            FormatArg::Proof | FormatArg::Site => proof,
        };
        format.value().hide(!is_listed)
    };
    let named = |name: String| FormatArg::all().find(|format| format.value().get_name() == name);
    PossibleValuesParser::new(FormatArg::all().map(value))
        .try_map(move |name| named(name).context("no format has this name"))
}

/// The numbers from which the keys of `.obk` books are made.
#[derive(Debug, clap::Args)]
pub(super) struct ZobristArgs {
    /// For --format obk: a text file with the 3,584 Zobrist numbers of these books
    /// (docs/using/files.md)
    #[arg(long, value_name = "FILE")]
    pub(super) zobrist: Option<PathBuf>,
}

impl ZobristArgs {
    /// Reads the numbers, for a format that needs them.
    ///
    /// # Errors
    /// If they are missing or wrong, or given for a format that does not use them.
    pub(super) fn keys(&self, format: FormatArg) -> Result<Option<ZobristKeys>> {
        if format == FormatArg::Book(Format::Obk) {
            return ZobristKeys::of_file(self.zobrist.as_deref()).map(Some);
        }
        ensure!(
            self.zobrist.is_none(),
            "--zobrist is for --format obk; no other format has keys of these numbers"
        );
        Ok(None)
    }
}
