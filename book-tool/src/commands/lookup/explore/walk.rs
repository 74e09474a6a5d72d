use anyhow::Result;
use kagetsu_book::Choice;
use kagetsu_game::{Answer, Move, Notation, Position, Verdict};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use kagetsu_reader::Source;
use kagetsu_reader::views::tree::moves_of;
use kagetsu_terminal::table;

/// Whether to go on after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkStep {
    /// Waits for the next key.
    On,
    /// Leaves the explorer.
    End,
}

/// The maximum number of lines in the tree.
const MAX_TREE_LINES: usize = 60;
/// Depth of the tree in plies, and its number of moves a position.
const TREE_PLIES: usize = 6;
const WIDTH: usize = 2;
/// Rows of a page.
const PAGE_ROWS: usize = 10;

/// A row of the tree: its indentation, and a move with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Branch {
    pub(crate) ply: usize,
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
}

/// The current place in a book, and what the book knows there.
pub(crate) struct Walk {
    source: Source,
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
    pub(crate) tree: Vec<Branch>,
    /// The text being typed.
    pub(crate) typed: Option<String>,
    /// The error in that text.
    pub(crate) complaint: Option<String>,
    pub(crate) shows_keys: bool,
}

impl Walk {
    /// Begins at a position. Its moves from the start can be taken back.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(crate) fn new(source: Source, position: Position, notation: Notation) -> Result<Self> {
        let moves = position.moves();
        let before = |count: usize| {
            Position::new(
                position.variant(),
                position.setup().cloned(),
                &moves[..count],
            )
        };
        let line: Vec<Position> = (0..=moves.len()).map(before).collect::<Result<_, _>>()?;
        let at = line.len() - 1;
        let mut walk = Self {
            source,
            notation,
            line,
            at,
            answer: None,
            moves: Vec::new(),
            chosen: 0,
            tree: Vec::new(),
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
        let mut tree = Vec::new();
        self.branch(&next, 0, &mut tree)?;
        self.tree = tree;
        Ok(())
    }

    fn branch(&mut self, position: &Position, ply: usize, tree: &mut Vec<Branch>) -> Result<()> {
        if ply == TREE_PLIES {
            return Ok(());
        }
        let Some(answer) = self.source.lookup(position)? else {
            return Ok(());
        };
        for (m, verdict) in moves_of(&self.source, position, &answer, WIDTH)? {
            if tree.len() == MAX_TREE_LINES {
                break;
            }
            tree.push(Branch {
                ply,
                name: position.write_move_in(m, self.notation),
                verdict,
            });
            if let Ok(next) = position.play(m) {
                self.branch(&next, ply + 1, tree)?;
            }
        }
        Ok(())
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
            match key.code {
                KeyCode::Enter => self.play_typed(&typed)?,
                KeyCode::Esc => {}
                KeyCode::Backspace => {
                    typed.pop();
                    self.typed = Some(typed);
                }
                KeyCode::Char(c) if !is_control => {
                    typed.push(c);
                    self.typed = Some(typed);
                }
                _ => self.typed = Some(typed),
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
            KeyCode::Char('/') => self.typed = Some(String::new()),
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
