use std::fmt;
use std::str::FromStr;

use anyhow::Result;
use kagetsu_game::{Answer, Position, Side};
use kagetsu_proto::Access;
use kagetsu_reader::BookReader;

/// A book and the side that plays from it, as `--book` names them: `h8.kbk`, `first=h8.kbk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookChoice {
    /// The side that plays from the book; `None` for both.
    pub side: Option<Side>,
    /// A folder, a compiled book or a URL.
    pub name: String,
}

impl FromStr for BookChoice {
    type Err = BookChoiceError;

    fn from_str(text: &str) -> Result<Self, BookChoiceError> {
        let (side, name) = match text.split_once('=') {
            Some(("first", name)) => (Some(Side::First), name),
            Some(("second", name)) => (Some(Side::Second), name),
            _ => (None, text),
        };
        if name.is_empty() {
            return Err(BookChoiceError);
        }
        Ok(Self {
            side,
            name: name.into(),
        })
    }
}

/// Text that names no book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookChoiceError;

impl fmt::Display for BookChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a book is missing; write BOOK, first=BOOK or second=BOOK")
    }
}

impl std::error::Error for BookChoiceError {}

/// The books that an engine plays from, the first that knows a move first.
#[derive(Default)]
pub(crate) struct Books(Vec<(Option<Side>, Box<dyn BookReader>)>);

impl Books {
    /// Opens one more book.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn add(&mut self, book: &BookChoice, access: &Access) -> Result<()> {
        self.0
            .push((book.side, kagetsu_reader::open(&book.name, access)?));
        Ok(())
    }

    /// Whether there is no book.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks up a position in all books; the first that holds it answers.
    ///
    /// # Errors
    /// If a book cannot be read.
    pub(crate) fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        self.find(position, |_, answer| Some(answer))
    }

    /// Returns what `choose` finds first in the answers of the books for the side to move.
    ///
    /// # Errors
    /// If a book cannot be read.
    pub(crate) fn choose<T>(
        &mut self,
        position: &Position,
        mut choose: impl FnMut(Answer) -> Option<T>,
    ) -> Result<Option<T>> {
        let mover = position.side();
        self.find(position, |side, answer| match side {
            Some(side) if side != mover => None,
            _ => choose(answer),
        })
    }

    fn find<T>(
        &mut self,
        position: &Position,
        mut accept: impl FnMut(Option<Side>, Answer) -> Option<T>,
    ) -> Result<Option<T>> {
        for (side, book) in &mut self.0 {
            let answer = book.lookup(position)?;
            if let Some(found) = answer.and_then(|answer| accept(*side, answer)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{Book, BookOptions};
    use kagetsu_game::{Bound, Provenance, Score, Variant, Verdict};

    use super::*;

    fn book_with(folder: &std::path::Path, m: &str) -> String {
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(folder, &options).expect("a new book");
        for line in ["", "h8"] {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let m = position.parse_move(m).expect("legal");
            let verdict = Verdict {
                score: Score::opinion(10),
                bound: Bound::Exact,
                depth: 2,
                nodes: 1,
                line: vec![m],
                proof: None,
                by: Provenance {
                    engine: "test".into(),
                    day: 20_000,
                },
            };
            let answer = [(m, verdict)].into_iter().collect();
            book.learn(&position, &answer).expect("room for it");
        }
        book.close().expect("room for it");
        folder.to_str().expect("a plain name").into()
    }

    #[test]
    fn each_side_plays_from_its_own_book() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = [("one", "g7"), ("other", "i9")]
            .map(|(name, m)| book_with(&folder.path().join(name), m));
        let mut books = Books::default();
        for choice in [format!("first={one}"), format!("second={other}")] {
            let choice: BookChoice = choice.parse().expect("a book");
            books.add(&choice, &Access::default()).expect("it is there");
        }
        for (line, wanted) in [("", "g7"), ("h8", "i9")] {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let best = |answer: Answer| answer.best().map(|(m, _)| m);
            let m = books.choose(&position, best).expect("readable");
            assert_eq!(m.map(|m| position.write_move(m)).as_deref(), Some(wanted));
        }
        assert!("first=".parse::<BookChoice>().is_err());
        let plain: BookChoice = "http://x:1/?a=b".parse().expect("a book");
        assert_eq!((plain.side, &*plain.name), (None, "http://x:1/?a=b"));
    }
}
