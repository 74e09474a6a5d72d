//! Files as positions with answers.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::{Annotation, Day, Place};
use kagetsu_game::{Answer, Move, Position, Variant};
use kagetsu_games::GameRecord;

use crate::format::Format;
use crate::games::tally::{Games, in_canonical};
use crate::games::tree::GameTree;
use crate::gomoku::{hints, library, pos, psq, rif, sgf, yixin, yxdb};
use crate::input::archive::{self, PackedFile};
use crate::input::detect::{by_magic, detect};
use crate::input::encoding::decode_entries;
use crate::lists;
use crate::native::record::PositionRecord;
use crate::omissions::{OTHER_GAMES, Omissions};
use crate::table::csv as table;
use crate::xiangqi::zobrist::{MISSING_KEYS, ZobristKeys};
use crate::xiangqi::{bridge, eleeye, obk, pgn, ubb, xqf};

/// The mark with which editors on Windows begin a text file.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";
/// The longest text of a position or a move that is kept.
const MAX_NOTE_BYTES: usize = 1 << 20;

/// The contents of one or more files.
#[derive(Debug, Default)]
pub struct Contents {
    /// Positions with what the files say of their moves.
    pub answers: Vec<(Position, Answer)>,
    /// The games that were played, each as long as the rules let it go on. Games without names that
    /// have the same moves are numbered in each file, as their round.
    pub games: Vec<GameRecord>,
    /// The words of people about each position, with their file as their source.
    pub annotations: Vec<(Position, Vec<Annotation>)>,
    /// The number of records, nodes, games or lines in the files.
    pub items: u64,
    /// Content that the format cannot carry.
    pub omissions: Omissions,
}

/// Reads files. The games of all files are counted together.
pub struct Importer {
    /// The format of all files; `None` for what each file shows.
    format: Option<Format>,
    /// The format of the first file that was read.
    first: Option<Format>,
    variant: Option<Variant>,
    zobrist: Option<ZobristKeys>,
    root: Option<Position>,
    /// The name of the file that is read.
    source: String,
    games: Games,
    /// Annotations, each with its position in canonical orientation.
    notes: Vec<(Position, Annotation)>,
    contents: Contents,
}

impl Importer {
    /// Begins an import. Without a format each file is read by its content and the ending of its
    /// name. `variant` is the game that was played, for formats that do not say it.
    #[must_use]
    pub fn new(format: impl Into<Option<Format>>, variant: Option<Variant>) -> Self {
        Self {
            format: format.into(),
            first: None,
            variant,
            zobrist: None,
            root: None,
            source: String::new(),
            games: Games::default(),
            notes: Vec::new(),
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

    /// Reads one file, or the files in an archive.
    ///
    /// # Errors
    /// The first thing in the file that is not of the format or not possible by the rules.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(files) = archive::files(bytes)? else {
            let format = self.format_of(bytes)?;
            return self.add_file(format, bytes);
        };
        let packed = std::mem::take(&mut self.source);
        let mut read = 0;
        for PackedFile { name, content } in files {
            self.source = inner_name(&packed, &name);
            // Descriptions and pictures lie beside games.
            let own = Some(detect(&self.source, &content));
            let Some(format) = own
                .filter(|own| *own == self.format || self.format.is_none())
                .flatten()
            else {
                let kind = "files_of_another_format";
                self.contents.omissions.omit_text(kind, "", &self.source);
                continue;
            };
            let result = self.add_file(format, &content);
            result.with_context(|| self.source.clone())?;
            read += 1;
        }
        self.source = packed;
        if read == 0 {
            bail!("the archive holds no file of a format that is read here");
        }
        Ok(())
    }

    /// Returns the format of a file.
    ///
    /// # Errors
    /// If neither the importer nor the file says it, or another format is given than that of
    /// the file.
    fn format_of(&self, bytes: &[u8]) -> Result<Format> {
        ensure!(!bytes.is_empty(), "it is empty");
        if bytes.starts_with(b"kagetsub") {
            bail!("a compiled book holds only keys: import, or merge, what it was compiled from");
        }
        if let (Some(given), Some(other)) = (self.format, by_magic(bytes))
            && given != other
        {
            let name = other.name();
            bail!("its content is that of --format {name}: give that, or none");
        }
        let found = self.format.or_else(|| detect(&self.source, bytes));
        found.context(
            "neither its content nor the ending of its name tells the format: give --format; \
             `kagetsu import --help` lists them",
        )
    }

    fn add_file(&mut self, format: Format, bytes: &[u8]) -> Result<()> {
        self.first.get_or_insert(format);
        // Editors on Windows begin a text with a mark.
        let unmarked = bytes
            .strip_prefix(BYTE_ORDER_MARK.as_bytes())
            .unwrap_or(bytes);
        match format {
            Format::Json => self.add_records(&decode_entries(unmarked)),
            Format::Csv => {
                let (answers, items) = table::read(&decode_entries(unmarked))?;
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
                let (mut games, items, mut omissions) = self.read_games(format, bytes, unmarked)?;
                omissions.omit("moves_on_forbidden_points", games.fouls());
                omissions.omit("titles_or_results_of_trees", games.titles);
                let is_list = matches!(format, Format::Openings | Format::Pos);
                let mut alike: HashMap<(Position, Vec<Move>), u32> = HashMap::new();
                for mut record in games.take_records() {
                    if !record.tags.is_named() {
                        let line = (record.played.clone(), record.tail.clone());
                        let number = alike.entry(line).or_default();
                        *number += 1;
                        if *number > 1 {
                            record.tags.round = number.to_string();
                        }
                    }
                    record.tags.source.clone_from(&self.source);
                    self.contents
                        .games
                        .extend(Some(record).filter(|_| !is_list));
                }
                let day = Day::today().0;
                for (position, note) in games.take_notes() {
                    let source = self.source.clone();
                    let note = Annotation {
                        source,
                        day,
                        ..note
                    };
                    self.notes.push((position, note));
                }
                self.games.join(games);
                self.add_answers(Vec::new(), items, omissions);
                Ok(())
            }
        }
    }

    /// Reads the games of one file as trees, with their comments. Counts what the trees lack.
    ///
    /// # Errors
    /// As in [`Importer::add`]; or if the format holds no games.
    pub fn read_trees(&self, bytes: &[u8]) -> Result<(Vec<GameTree>, Omissions)> {
        let (mut trees, mut omissions) = (Vec::new(), Omissions::new());
        let files = archive::files(bytes)?;
        for PackedFile { name, content } in files.iter().flatten() {
            if let Some(format) = detect(&inner_name(&self.source, name), content) {
                let read = self.trees_of(format, content, &mut trees);
                omissions.join(read.with_context(|| name.clone())?, name);
            }
        }
        if files.is_none() {
            omissions = self.trees_of(self.format_of(bytes)?, bytes, &mut trees)?;
        }
        if let Some(why) = omissions.first().get(OTHER_GAMES) {
            bail!("a game is not of this variant: {why}");
        }
        for kept in ["comments", sgf::OTHER_PROPERTIES] {
            omissions.remove(kept);
        }
        Ok((trees, omissions))
    }

    fn trees_of(
        &self,
        format: Format,
        bytes: &[u8],
        trees: &mut Vec<GameTree>,
    ) -> Result<Omissions> {
        let unmarked = bytes
            .strip_prefix(BYTE_ORDER_MARK.as_bytes())
            .unwrap_or(bytes);
        let xiangqi = self.variant.unwrap_or(Variant::XIANGQI);
        let mut take = |tree| trees.push(tree);
        match format {
            Format::Sgf => sgf::read_trees(unmarked, self.played()?, &mut take),
            Format::Pgn => Ok(pgn::read_trees(unmarked, xiangqi, &mut take)?.1),
            Format::Xqf => {
                let (tree, omissions) = xqf::read_tree(bytes, xiangqi)?;
                take(tree);
                Ok(omissions)
            }
            Format::Cbr => bridge::read_trees(bytes, xiangqi, &mut take),
            Format::Ubb => ubb::read_trees(bytes, xiangqi, &mut take),
            _ => {
                let (mut games, _, omissions) = self.read_games(format, bytes, unmarked)?;
                let records = games.take_records();
                records.iter().map(GameTree::from).for_each(take);
                Ok(omissions)
            }
        }
    }

    /// Returns everything that was read.
    #[must_use]
    pub fn finish(mut self) -> Contents {
        let format = self.format.or(self.first).unwrap_or(Format::Lines);
        let games = self.games.answers(format.provenance());
        self.contents.answers.extend(games);
        let all = self.notes.len();
        self.notes
            .retain(|(_, note)| note.text.len() <= MAX_NOTE_BYTES);
        let omitted = (all - self.notes.len()) as u64;
        self.contents
            .omissions
            .omit("texts_of_more_than_1_MiB", omitted);
        self.notes
            .sort_by_cached_key(|(position, _)| Place::of(position));
        for (position, note) in self.notes {
            match self.contents.annotations.last_mut() {
                Some((last, notes)) if *last == position => notes.push(note),
                _ => self.contents.annotations.push((position, vec![note])),
            }
        }
        self.contents
    }

    fn read_games(
        &self,
        format: Format,
        bytes: &[u8],
        unmarked: &[u8],
    ) -> Result<(Games, u64, Omissions)> {
        let xiangqi = self.variant.unwrap_or(Variant::XIANGQI);
        let text = || -> Cow<'_, str> { decode_entries(unmarked) };
        match format {
            Format::Json | Format::Csv | Format::Yxdb => bail!("this format holds no games"),
            Format::Sqlite | Format::Parquet => {
                bail!("this format is written only; json and csv are read again")
            }
            Format::Lib => library::read(bytes, self.played()?),
            Format::Psq => psq::read(&text(), self.played()?),
            Format::Pos => pos::read(bytes, self.played()?),
            Format::Sgf => sgf::read(unmarked, self.played()?),
            Format::Rif => {
                let renju = self.variant.unwrap_or(Variant::RENJU_15);
                rif::read(&rif::text(unmarked), renju)
            }
            Format::Hints => hints::read(&text(), self.played()?),
            Format::Openings => lists::openings(&text(), self.played()?),
            Format::Lines => lists::games(&text(), self.played()?),
            Format::Fen => lists::fens(&text(), xiangqi),
            Format::Pgn => pgn::read(unmarked, xiangqi),
            Format::Xqf | Format::Cbr | Format::Ubb => {
                let mut trees = Vec::new();
                let omissions = self.trees_of(format, bytes, &mut trees)?;
                let (mut games, count) = (Games::default(), trees.len() as u64);
                for tree in trees {
                    games.play_tree(tree);
                }
                Ok((games, count, omissions))
            }
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
            let answer = record.and_then(|record| {
                let (position, answer) = record.decode()?;
                for note in record.annotations(&position)? {
                    self.notes.push(in_canonical(&position, note)?);
                }
                let has_words_alone = answer.is_empty() && !record.annotations.is_empty();
                Ok((!has_words_alone).then_some((position, answer)))
            });
            let answer = answer.with_context(|| format!("line {number}"))?;
            self.add_answers(answer.into_iter().collect(), 1, Omissions::new());
        }
        Ok(())
    }

    fn add_answers(&mut self, answers: Vec<(Position, Answer)>, items: u64, omissions: Omissions) {
        self.contents.answers.extend(answers);
        self.contents.items += items;
        self.contents.omissions.join(omissions, &self.source);
    }
}

/// Names a file in an archive.
fn inner_name(archive: &str, name: &str) -> String {
    match name {
        // The file in `game.pgn.gz` is `game.pgn`.
        "" => archive.trim_end_matches(".gz").into(),
        name => format!("{archive}/{name}"),
    }
}
