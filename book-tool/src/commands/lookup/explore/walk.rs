use anyhow::Result;
use kagetsu_api::AnnotationsJson;
use kagetsu_book::{AnnotationJson, Choice};
use kagetsu_game::{Answer, Move, Notation, Position, Verdict};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use kagetsu_proto::Access;
use kagetsu_reader::views::annotations::AnnotationsView;
use kagetsu_reader::views::tree::TreeView;
use kagetsu_reader::{Source, TextBlock, View, read_view};
use kagetsu_terminal::table;

/// Whether to go on after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkStep {
    /// Waits for the next key.
    On,
    /// Leaves the explorer.
    End,
}

/// Rows of a page.
const PAGE_ROWS: usize = 10;

/// A text being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedText {
    /// Moves to play.
    Moves(String),
    /// A comment on the position.
    Comment(String),
}

impl TypedText {
    fn text(&mut self) -> &mut String {
        match self {
            Self::Moves(text) | Self::Comment(text) => text,
        }
    }
}

/// The current place in a book, and what the book knows there.
pub(crate) struct Walk {
    source: Source,
    /// The name of the book, for comments.
    book: (String, Access),
    /// The notation of moves on the screen.
    pub(crate) notation: Notation,
    /// The whole line, and how many of its moves are on the board.
    line: Vec<Position>,
    at: usize,
    pub(crate) answer: Option<Answer>,
    /// The moves of the answer in the order of the screen.
    moves: Vec<(Move, Verdict)>,
    /// Index of the selected move.
    pub(crate) chosen: usize,
    /// The lines behind the selected move.
    pub(crate) tree: Vec<String>,
    /// The words of people about the position.
    pub(crate) notes: Vec<String>,
    pub(crate) typed: Option<TypedText>,
    /// The error in the text that was typed.
    pub(crate) complaint: Option<String>,
    pub(crate) shows_keys: bool,
}

impl Walk {
    /// Begins at a position. Its moves from the start can be taken back.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(crate) fn new(
        source: Source,
        book: (String, Access),
        position: Position,
        notation: Notation,
    ) -> Result<Self> {
        let mut line: Vec<Position> = position.prefixes().rev().collect();
        let at = line.len();
        line.push(position);
        let mut walk = Self {
            source,
            book,
            notation,
            line,
            at,
            answer: None,
            moves: Vec::new(),
            chosen: 0,
            tree: Vec::new(),
            notes: Vec::new(),
            typed: None,
            complaint: None,
            shows_keys: false,
        };
        walk.look()?;
        Ok(walk)
    }

    /// Returns the position on the board.
    pub(crate) fn position(&self) -> &Position {
        &self.line[self.at]
    }

    /// Returns the names of the last moves on the board.
    pub(crate) fn last_moves(&self) -> Vec<String> {
        const MAX_SHOWN_MOVES: usize = 10;
        let from = self.at.saturating_sub(MAX_SHOWN_MOVES);
        let moves = self.position().moves();
        self.line[from].write_line_in(&moves[from..], self.notation)
    }

    /// Returns the moves that can be selected, best first.
    pub(crate) fn verdicts(&self) -> &[(Move, Verdict)] {
        &self.moves
    }

    /// Returns the book's choice.
    pub(crate) fn best(&self) -> Option<&(Move, Verdict)> {
        self.answer
            .as_ref()
            .and_then(|answer| Choice::default().pick(answer))
    }

    fn look(&mut self) -> Result<()> {
        let position = self.position().clone();
        self.answer = self.source.lookup(&position)?;
        let ordered = self.answer.as_ref().map(table::ordered);
        self.moves = ordered.into_iter().flatten().cloned().collect();
        self.chosen = 0;
        let annotations = self.source.annotations(&position)?;
        let notes = AnnotationsJson { annotations };
        let notes = AnnotationsView::print(&notes, &position, self.notation);
        self.notes = lines(notes);
        self.grow()
    }

    /// Looks up the lines behind the selected move.
    fn grow(&mut self) -> Result<()> {
        self.tree.clear();
        let Some(&(m, _)) = self.verdicts().get(self.chosen) else {
            return Ok(());
        };
        let Ok(next) = self.position().play(m) else {
            return Ok(());
        };
        if let Ok(tree) = read_view::<TreeView>(&self.source, &next, &TreeView::default()) {
            let tree = TreeView::print(&tree, &next, self.notation);
            // The first line names the position.
            self.tree = lines(tree).split_off(1);
        }
        Ok(())
    }

    /// Writes a comment on the position into the book.
    fn comment(&mut self, text: &str) -> Result<()> {
        let note = AnnotationJson {
            kind: "comment".into(),
            text: text.trim().into(),
            ..AnnotationJson::default()
        };
        let (book, access) = &self.book;
        match kagetsu_reader::annotate(book, access, self.position(), note) {
            Ok(()) => self.source = kagetsu_reader::open(book, access)?,
            Err(error) => self.complaint = Some(format!("{error:#}")),
        }
        self.look()
    }

    fn choose(&mut self, chosen: usize) -> Result<()> {
        self.chosen = chosen.min(self.verdicts().len().saturating_sub(1));
        self.grow()
    }

    fn go(&mut self, at: usize) -> Result<()> {
        self.at = at.min(self.line.len() - 1);
        self.look()
    }

    fn play(&mut self, m: Move) -> Result<()> {
        let next = match self.position().play(m) {
            Ok(next) => next,
            Err(error) => {
                self.complaint = Some(error.to_string());
                return Ok(());
            }
        };
        if self.line.get(self.at + 1) != Some(&next) {
            self.line.truncate(self.at + 1);
            self.line.push(next);
        }
        self.go(self.at + 1)
    }

    fn play_typed(&mut self, text: &str) -> Result<()> {
        let played = match self.position().play_line(text) {
            Ok(played) => played,
            Err(error) => {
                self.complaint = Some(error.to_string());
                return Ok(());
            }
        };
        let new = played.moves()[self.position().moves().len()..].to_vec();
        new.into_iter().try_for_each(|m| self.play(m))
    }

    /// Handles a key.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Result<WalkStep> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return Ok(WalkStep::End);
        }
        if let Some(mut typed) = self.typed.take() {
            match (key.code, &mut typed) {
                (KeyCode::Enter, TypedText::Moves(text)) => self.play_typed(text)?,
                (KeyCode::Enter, TypedText::Comment(text)) => self.comment(text)?,
                (KeyCode::Esc, _) => {}
                (code, _) => {
                    match code {
                        KeyCode::Backspace => drop(typed.text().pop()),
                        KeyCode::Char(c) if !is_control => typed.text().push(c),
                        _ => {}
                    }
                    self.typed = Some(typed);
                }
            }
            return Ok(WalkStep::On);
        }
        self.complaint = None;
        let was_shown = std::mem::take(&mut self.shows_keys);
        match key.code {
            KeyCode::Char('q') => return Ok(WalkStep::End),
            KeyCode::Esc if was_shown => {}
            KeyCode::Esc => return Ok(WalkStep::End),
            KeyCode::Char('?') => self.shows_keys = !was_shown,
            KeyCode::Char('/') => self.typed = Some(TypedText::Moves(String::new())),
            KeyCode::Char('c') => self.typed = Some(TypedText::Comment(String::new())),
            KeyCode::Up | KeyCode::Char('k') => self.choose(self.chosen.saturating_sub(1))?,
            KeyCode::Down | KeyCode::Char('j') => self.choose(self.chosen + 1)?,
            KeyCode::PageUp => self.choose(self.chosen.saturating_sub(PAGE_ROWS))?,
            KeyCode::PageDown => self.choose(self.chosen + PAGE_ROWS)?,
            KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => {
                if let Some(&(m, _)) = self.verdicts().get(self.chosen) {
                    self.play(m)?;
                }
            }
            KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => {
                self.go(self.at.saturating_sub(1))?
            }
            KeyCode::Char('f') => self.go(self.at + 1)?,
            KeyCode::Home => self.go(0)?,
            KeyCode::End => self.go(usize::MAX)?,
            KeyCode::Char('b') => {
                if let Some(&(m, _)) = self.best() {
                    self.play(m)?;
                }
            }
            _ => {}
        }
        Ok(WalkStep::On)
    }
}

/// Returns the rows of a view.
fn lines(blocks: Vec<TextBlock>) -> Vec<String> {
    let rows = blocks.into_iter().flat_map(|block| match block {
        TextBlock::Line(line) | TextBlock::Note(line) => vec![line],
        TextBlock::Table { rows, .. } => rows.iter().map(|row| row.join("  ")).collect(),
    });
    rows.collect()
}
