//! The formats by name.

use std::path::Path;

/// A file format of another program, or one of our own that carries everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line for each position, with everything that was searched.
    Json,
    /// A table with a line for each move: the book's values, and everything that was searched.
    Csv,
    /// The same table as a SQLite database.
    Sqlite,
    /// The same table as a Parquet file.
    Parquet,
    /// A gomoku position database of Yixin or Rapfi (`.db`).
    Yxdb,
    /// A RenLib library (`.lib`): a tree of moves on 15x15, with texts.
    Lib,
    /// A game of Piskvork or Gomocup (`.psq`).
    Psq,
    /// A position of old renju collections (`.pos`).
    Pos,
    /// Gomoku games and trees in SGF.
    Sgf,
    /// Games of RenjuNet (`.rif`, XML).
    Rif,
    /// Gomoku openings as offsets of stones from the centre (Gomocup), or as lines of moves.
    Openings,
    /// Moves that win, one line of moves each, the last of which is tried first by a build.
    Hints,
    /// One game a line, as moves, optionally with a FEN before and the result behind them.
    Lines,
    /// One FEN a line with its best move and value.
    Fen,
    /// Games of xiangqi in PGN, and of gomoku as PlayOK writes them.
    Pgn,
    /// A game or tree of XQStudio (`.xqf`).
    Xqf,
    /// Xiangqi games of CCBridge: one (`.cbr`), or a library (`.cbl`).
    Cbr,
    /// Xiangqi games as Chinese forums show them (UBB, DhtmlXQ).
    Ubb,
    /// A xiangqi book of ElephantEye or XQWizard (`BOOK.DAT`).
    Eleeye,
    /// A xiangqi book in SQLite (`.obk`, `.pfBook`).
    Obk,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 20] = [
        Self::Json,
        Self::Csv,
        Self::Sqlite,
        Self::Parquet,
        Self::Yxdb,
        Self::Lib,
        Self::Psq,
        Self::Pos,
        Self::Sgf,
        Self::Rif,
        Self::Openings,
        Self::Hints,
        Self::Lines,
        Self::Fen,
        Self::Pgn,
        Self::Xqf,
        Self::Cbr,
        Self::Ubb,
        Self::Eleeye,
        Self::Obk,
    ];

    /// The name on the command line, and a description in one line for a help text.
    fn words(self) -> (&'static str, &'static str) {
        let row = include_str!("formats.txt").lines().nth(self as usize);
        row.and_then(|row| row.split_once(" | "))
            .unwrap_or_default()
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// A description of the format in one line, for a help text.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.words().1
    }

    /// Whether `kagetsu import` reads it.
    #[must_use]
    pub const fn is_imported(self) -> bool {
        !matches!(self, Self::Sqlite | Self::Parquet)
    }

    /// Whether `kagetsu export` writes it.
    #[must_use]
    pub const fn is_exported(self) -> bool {
        !matches!(
            self,
            Self::Psq | Self::Pos | Self::Rif | Self::Lines | Self::Cbr | Self::Ubb
        )
    }

    /// Returns the format that the ending of a file's name tells, if one does.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*ending {
            "jsonl" => Some(Self::Json),
            "db" => Some(Self::Yxdb),
            "dat" => Some(Self::Eleeye),
            "pfbook" => Some(Self::Obk),
            "cbl" => Some(Self::Cbr),
            "epd" => Some(Self::Fen),
            "wxf" | "pgns" | "cbf" => Some(Self::Pgn),
            "dhtmlxq" => Some(Self::Ubb),
            "xml" => Some(Self::Rif),
            name => Self::ALL.into_iter().find(|format| format.name() == name),
        }
    }

    /// The engine name under which a book keeps values that come from games of this format.
    pub(crate) fn provenance(self) -> &'static str {
        match self {
            Self::Lib => "renlib",
            Self::Eleeye => "elephanteye",
            other => other.name(),
        }
    }
}
