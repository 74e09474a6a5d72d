//! Files as positions with answers.

use anyhow::{Context, Result, bail};
use kagetsu_game::{Answer, Position, Variant};
use kagetsu_games::GameRecord;

use crate::format::Format;
use crate::game_tree::GameTree;
use crate::games::Games;
use crate::gomoku::{hints, library, psq, rif, sgf, yixin, yxdb};
use crate::lists;
use crate::native::record::PositionRecord;
use crate::omissions::{Omissions, omit};
use crate::table::csv as table;
use crate::xiangqi::zobrist::{MISSING_KEYS, ZobristKeys};
use crate::xiangqi::{eleeye, obk, pgn, xqf};

/// The mark with which editors on Windows begin a text file.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The contents of one or more files.
#[derive(Debug, Default)]
pub struct Contents {
    /// Positions with what the files say of their moves.
    pub answers: Vec<(Position, Answer)>,
    /// The games whose players, event or date the files give.
    pub games: Vec<GameRecord>,
    /// The number of records, nodes, games or lines in the files.
    pub items: u64,
    /// Content that the format cannot carry.
    pub omissions: Omissions,
}

/// Reads files of one format. The games of all files are counted together.
pub struct Importer {
    format: Format,
    variant: Option<Variant>,
    zobrist: Option<ZobristKeys>,
    root: Option<Position>,
    /// The name of the file that is read.
    source: String,
    games: Games,
    contents: Contents,
}

impl Importer {
    /// Begins an import. `variant` is the game that was played, for formats that do not say it.
    #[must_use]
    pub fn new(format: Format, variant: Option<Variant>) -> Self {
        Self {
            format,
            variant,
            zobrist: None,
            root: None,
            source: String::new(),
            games: Games::default(),
            contents: Contents::default(),
        }
    }

    /// Sets the numbers from which the keys of an `obk` book are made.
    #[must_use]
    pub fn with_zobrist(self, zobrist: Option<ZobristKeys>) -> Self {
        Self { zobrist, ..self }
    }

    /// Sets a second position, beside the start, from which an `obk` book is walked through.
    #[must_use]
    pub fn with_root(self, root: Option<Position>) -> Self {
        Self { root, ..self }
    }

    /// Sets the name under which games keep the file that is read next.
    pub fn set_source(&mut self, name: &str) {
        self.source = name.into();
    }

    /// Reads one file.
    ///
    /// # Errors
    /// The first thing in the file that is not of the format or not possible by the rules.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_is_no_other(bytes)?;
        // Editors on Windows begin a text with a mark.
        let unmarked = bytes
            .strip_prefix(BYTE_ORDER_MARK.as_bytes())
            .unwrap_or(bytes);
        match self.format {
            Format::Json => self.add_records(text(unmarked)?),
            Format::Csv => {
                let (answers, items) = table::read(text(unmarked)?)?;
                self.add_answers(answers, items, Omissions::new());
                Ok(())
            }
            Format::Yxdb => {
                const WRONG: &str = "it is no database of Yixin or Rapfi";
                let records = yxdb::read(bytes).context(WRONG)?;
                let (answers, omissions) = yixin::answers(&records).context(WRONG)?;
                self.add_answers(answers, records.len() as u64, omissions);
                Ok(())
            }
            _ => {
                let (mut games, items, mut omissions) = self.read_games(bytes, unmarked)?;
                omit(&mut omissions, "moves_on_forbidden_points", games.fouls());
                for mut record in games.take_records() {
                    if record.tags.is_named() {
                        record.tags.source.clone_from(&self.source);
                        self.contents.games.push(record);
                    }
                }
                self.games.join(games);
                self.add_answers(Vec::new(), items, omissions);
                Ok(())
            }
        }
    }

    /// Refuses a binary file of another kind, before it is taken for a text in another encoding.
    fn check_is_no_other(&self, bytes: &[u8]) -> Result<()> {
        if bytes.starts_with(b"PK\x03\x04") {
            bail!("it is a zip file; unpack it, and import the files in it");
        }
        if self.format != Format::Lib && bytes.starts_with(b"\xffRenLib") {
            bail!("it is a RenLib library; import it by --format lib");
        }
        Ok(())
    }

    /// Reads the games of one file as trees, with their comments. Counts what the trees lack.
    ///
    /// # Errors
    /// As in [`Importer::add`]; or if the format holds no games.
    pub fn read_trees(&self, bytes: &[u8]) -> Result<(Vec<GameTree>, Omissions)> {
        let unmarked = bytes
            .strip_prefix(BYTE_ORDER_MARK.as_bytes())
            .unwrap_or(bytes);
        let xiangqi = self.variant.unwrap_or(Variant::XIANGQI);
        let mut trees = Vec::new();
        let mut take = |tree| trees.push(tree);
        let mut omissions = match self.format {
            Format::Sgf => sgf::read_trees(unmarked, self.played()?, &mut take)?,
            Format::Pgn => pgn::read_trees(unmarked, xiangqi, &mut take)?.1,
            Format::Xqf => {
                let (tree, omissions) = xqf::read_tree(bytes, xiangqi)?;
                take(tree);
                omissions
            }
            _ => {
                let (mut games, _, omissions) = self.read_games(bytes, unmarked)?;
                let records = games.take_records();
                records.iter().map(GameTree::from).for_each(take);
                omissions
            }
        };
        for kept in ["comments", "comments_and_variations"] {
            omissions.remove(kept);
        }
        Ok((trees, omissions))
    }

    /// Returns everything that was read.
    #[must_use]
    pub fn finish(mut self) -> Contents {
        let games = self.games.answers(self.format.provenance());
        self.contents.answers.extend(games);
        self.contents
    }

    fn read_games(&self, bytes: &[u8], unmarked: &[u8]) -> Result<(Games, u64, Omissions)> {
        let xiangqi = self.variant.unwrap_or(Variant::XIANGQI);
        match self.format {
            Format::Json | Format::Csv | Format::Yxdb => bail!("this format holds no games"),
            Format::Sqlite | Format::Parquet => {
                bail!("this format is written only; json and csv are read again")
            }
            Format::Lib => library::read(bytes, self.played()?),
            Format::Psq => psq::read(&String::from_utf8_lossy(unmarked), self.played()?),
            Format::Sgf => sgf::read(unmarked, self.played()?),
            Format::Rif => rif::read(&rif::text(unmarked)?, self.played()?),
            Format::Hints => hints::read(text(unmarked)?, self.played()?),
            Format::Openings => lists::openings(text(unmarked)?, self.played()?),
            Format::Lines => lists::games(text(unmarked)?, self.played()?),
            Format::Fen => lists::fens(text(unmarked)?, self.played()?),
            Format::Pgn => pgn::read(unmarked, xiangqi),
            Format::Xqf => xqf::read(bytes, xiangqi),
            Format::Eleeye => eleeye::read(bytes, xiangqi),
            Format::Obk => {
                let keys = self.zobrist.as_ref().context(MISSING_KEYS)?;
                obk::read(bytes, xiangqi, keys, self.root.as_ref())
            }
        }
    }

    fn played(&self) -> Result<Variant> {
        self.variant.context(
            "--variant must say what was played, as in --variant renju-15: the file does not",
        )
    }

    fn add_records(&mut self, text: &str) -> Result<()> {
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let record = line.parse::<PositionRecord>();
            let answer = record.and_then(|record| record.decode());
            let answer = answer.with_context(|| format!("line {number}"))?;
            self.add_answers(vec![answer], 1, Omissions::new());
        }
        Ok(())
    }

    fn add_answers(&mut self, answers: Vec<(Position, Answer)>, items: u64, omissions: Omissions) {
        self.contents.answers.extend(answers);
        self.contents.items += items;
        for (kind, count) in omissions {
            omit(&mut self.contents.omissions, kind, count);
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).context("it is no text in UTF-8; `iconv` makes it one")
}
