use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use anyhow::Result;
use kagetsu_files::installed_book;
use kagetsu_game::{Answer, Key, Move, Position, Proof, Side, Variant, Verdict};
use rand::seq::IndexedRandom;

use crate::source::{Access, Source, open};

/// Values of roots, in centi-units, that are balanced.
const BALANCED: i16 = 30;
/// Openings that are drawn by lot until a book holds one: of all of three stones on 15x15 the table
/// for swap 2 holds one in forty.
const MAX_DRAWS: u32 = 2_000;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a book is missing; write BOOK, first=BOOK or second=BOOK")]
pub struct BookChoiceError;

/// The number of a book that is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no book {number}; books that are open: {count}, from 1 on")]
pub(crate) struct NoSuchBook {
    number: usize,
    count: usize,
}

/// The books that an engine plays from, the first that knows a move first.
#[derive(Default)]
pub(crate) struct Books(Vec<ChosenBook>);

/// One of the books.
struct ChosenBook {
    choice: BookChoice,
    reader: Source,
    is_on: bool,
    /// Variants and keys of the roots, once a position outside the book was asked for.
    roots: OnceCell<BTreeSet<(u32, Key)>>,
}

impl ChosenBook {
    fn roots(&self) -> Result<&BTreeSet<(u32, Key)>> {
        if let Some(roots) = self.roots.get() {
            return Ok(roots);
        }
        let overview = self.reader.overview()?;
        let held = overview.variants.iter().flat_map(|held| &held.roots);
        let key = |root: &Position| (root.variant().code(), root.key());
        let roots = held.map(|root| key(&root.position)).collect();
        Ok(self.roots.get_or_init(|| roots))
    }

    /// Whether the book knows the value of a position, and that it is balanced.
    fn is_balanced(&self, position: &Position) -> Result<bool> {
        let answer = self.reader.lookup(position)?.unwrap_or_default();
        let best = answer.best().filter(|(_, best)| best.is_exact());
        Ok(best.is_some_and(|(_, best)| best.score.raw().abs() <= BALANCED))
    }

    /// Returns the move to the root that is best for the side to move, if it is not worse than
    /// balanced.
    fn move_to_root(&self, position: &Position) -> Result<Option<(Move, Verdict)>> {
        let (variant, roots) = (position.variant().code(), self.roots()?);
        let mut best: Option<(Move, Verdict)> = None;
        if roots.is_empty() {
            return Ok(best);
        }
        for m in position.legal_moves() {
            let Ok(root) = position.play(m) else { continue };
            if !roots.contains(&(variant, root.key())) {
                continue;
            }
            let answer = self.reader.lookup(&root)?.unwrap_or_default();
            let Some((_, value)) = answer.best().filter(|(_, value)| value.is_exact()) else {
                continue;
            };
            let score = value.score.before();
            let verdict = Verdict {
                score,
                proof: value.proof.map(Proof::before),
                line: vec![m],
                ..value.clone()
            };
            let is_better = best.as_ref().is_none_or(|(_, known)| known.score < score);
            if is_better && score.raw() >= -BALANCED {
                best = Some((m, verdict));
            }
        }
        Ok(best)
    }
}

/// Returns the name of a book, or the path beside the program or of an installed book where only
/// there is a file of this name: interfaces start an engine in a folder of theirs.
fn found(name: &str) -> Cow<'_, str> {
    let program = std::env::current_exe()
        .ok()
        .filter(|_| !Path::new(name).exists());
    let beside = program.map(|program| program.with_file_name(name));
    let beside = beside.filter(|path| path.is_file());
    match beside.or_else(|| installed_book(Path::new(name))) {
        Some(path) => path.to_string_lossy().into_owned().into(),
        None => name.into(),
    }
}

impl Books {
    /// Opens one more book.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn add(&mut self, book: &BookChoice, access: &Access) -> Result<()> {
        self.0.push(ChosenBook {
            choice: book.clone(),
            reader: open(&found(&book.name), access)?,
            is_on: true,
            roots: OnceCell::new(),
        });
        Ok(())
    }

    /// Switches a book on or off, by its number from 1.
    ///
    /// # Errors
    /// If there is no such book.
    pub(crate) fn switch(&mut self, number: usize, is_on: bool) -> Result<(), NoSuchBook> {
        let count = self.0.len();
        let book = number.checked_sub(1).and_then(|at| self.0.get_mut(at));
        book.ok_or(NoSuchBook { number, count })?.is_on = is_on;
        Ok(())
    }

    /// Lists the books, each with its number, its side and whether it is on.
    pub(crate) fn list(&self) -> Vec<String> {
        let line = |(at, book): (usize, &ChosenBook)| {
            let BookChoice { side, name } = &book.choice;
            let side = side.map_or_else(String::new, |side| format!("{side}="));
            let state = if book.is_on { "on" } else { "off" };
            format!("book {} {side}{name} is {state}", at + 1)
        };
        self.0.iter().enumerate().map(line).collect()
    }

    /// Draws an opening of three stones that the books value as balanced: a root that a book goes
    /// on from, else any root, and where the roots are too many to be listed, any position.
    ///
    /// # Errors
    /// If a book cannot be read.
    pub(crate) fn balanced_opening(&mut self, variant: Variant) -> Result<Option<Position>> {
        let (mut roots, mut is_cut) = (Vec::new(), false);
        for book in self.0.iter().filter(|book| book.is_on) {
            let overview = book.reader.overview()?;
            let Some(held) = overview.variant(variant) else {
                continue;
            };
            is_cut |= held.all_roots > held.roots.len() as u64;
            for root in &held.roots {
                let position = &root.position;
                if position.moves().len() == 3 && book.is_balanced(position)? {
                    roots.push((root.positions > 1, position.clone()));
                }
            }
        }
        let goes_on = roots.iter().any(|(goes_on, _)| *goes_on);
        roots.retain(|root| root.0 == goes_on);
        let chance = &mut rand::rng();
        let points = Position::start(variant).legal_moves();
        let draws = if is_cut && !goes_on { MAX_DRAWS } else { 0 };
        for _ in 0..draws {
            let moves: Vec<Move> = points.sample(chance, 3).copied().collect();
            // Renju may forbid what was drawn by lot.
            let Ok(drawn) = Position::new(variant, None, &moves) else {
                continue;
            };
            for book in self.0.iter().filter(|book| book.is_on) {
                if book.is_balanced(&drawn)? {
                    return Ok(Some(drawn));
                }
            }
        }
        Ok(roots.choose(chance).map(|(_, root)| root.clone()))
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
        self.find(position, |_, _, answer| Ok(Some(answer)))
    }

    /// Returns what `choose` finds first in the books for the side to move and their answers,
    /// without the moves that people avoid.
    ///
    /// # Errors
    /// If a book cannot be read.
    pub(crate) fn choose<T>(
        &mut self,
        position: &Position,
        mut choose: impl FnMut(&Source, &Position, Answer) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mover = position.side();
        self.find(position, |book, position, answer| match book.choice.side {
            Some(side) if side != mover => Ok(None),
            _ => {
                let answer = book.reader.by_hand(position, answer)?;
                choose(&book.reader, position, answer)
            }
        })
    }

    /// Returns the move to a root, in the first book for the side to move that has one.
    ///
    /// # Errors
    /// If a book cannot be read.
    pub(crate) fn opening(&self, position: &Position) -> Result<Option<(Move, Verdict)>> {
        let side = position.side();
        let is_for =
            |book: &&ChosenBook| book.is_on && book.choice.side.is_none_or(|of| of == side);
        let positions = by_rules(position);
        for book in self.0.iter().filter(is_for) {
            for position in &positions {
                if let Some(found) = book.move_to_root(position)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    fn find<T>(
        &mut self,
        position: &Position,
        mut accept: impl FnMut(&ChosenBook, &Position, Answer) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let positions = by_rules(position);
        for book in self.0.iter().filter(|book| book.is_on) {
            for position in &positions {
                if let Some(answer) = book.reader.lookup(position)?
                    && let Some(found) = accept(book, position, answer)?
                {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}

/// Returns the position, and in a game of xiangqi in which chases lose, the same position of a game
/// in which they do not: a book by either rules serves such a game.
fn by_rules(position: &Position) -> Vec<Position> {
    let is_chase = position.variant() == Variant::XIANGQI_CHASE;
    let other = is_chase.then(|| position.under(Variant::XIANGQI).ok());
    std::iter::once(position.clone())
        .chain(other.flatten())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use kagetsu_book::{Book, BookOptions};

    use super::*;

    /// Makes a book of freestyle-15 from lines, each with one move and its value in centi-units.
    pub(crate) fn write_book(folder: &std::path::Path, rows: &[(&str, &str, i32)]) -> String {
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder, &options).expect("a new book");
        for (line, m, score) in rows {
            let position = kagetsu_builders::position(line);
            let m = position.parse_move(m).expect("legal");
            let answer = [kagetsu_builders::opinion(m, *score)].into_iter().collect();
            book.learn(&position, &answer).expect("room for it");
        }
        book.close().expect("room for it");
        folder.to_str().expect("a plain name").into()
    }

    fn book_with(folder: &std::path::Path, m: &str) -> String {
        write_book(folder, &[("", m, 10), ("h8", m, 10)])
    }

    #[test]
    fn balanced_opening_is_found_among_many_roots() {
        let variant: Variant = "freestyle-6".parse().expect("a variant");
        let points = Position::start(variant).legal_moves();
        let openings = (3..203).map(|at| [points[0], points[at % 34 + 1], points[at / 34 + 29]]);
        let openings = openings.filter_map(|moves| Position::new(variant, None, &moves).ok());
        let openings: Vec<Position> = openings.collect();
        let write = |folder: &Path, score: &dyn Fn(&Position) -> i32| {
            let (mut book, _) = Book::open(folder, &BookOptions::creating()).expect("a new book");
            for position in &openings {
                let m = position.legal_moves()[0];
                let opinion = kagetsu_builders::opinion(m, score(position));
                let answer = [opinion].into_iter().collect();
                book.learn(position, &answer).expect("room for it");
            }
            let overview = book.overview().expect("readable");
            book.close().expect("room for it");
            overview.variants[0].clone()
        };
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let overview = write(one.path(), &|_| 80);
        let listed: BTreeSet<Key> = overview.roots.iter().map(|r| r.position.key()).collect();
        assert!(
            overview.all_roots > 2 * listed.len() as u64 * 2 / 3,
            "{overview:?}"
        );
        // None of the roots that an overview lists is balanced.
        write(other.path(), &|p| {
            if listed.contains(&p.key()) { 80 } else { 10 }
        });
        let mut books = Books::default();
        let choice: BookChoice = other
            .path()
            .to_str()
            .expect("plain")
            .parse()
            .expect("a book");
        books.add(&choice, &Access::default()).expect("it is there");
        let opening = books
            .balanced_opening(variant)
            .expect("readable")
            .expect("half of them");
        assert!(!listed.contains(&opening.key()) && opening.moves().len() == 3);
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
            let best = |_: &Source, _: &Position, answer: Answer| Ok(answer.best().map(|(m, _)| m));
            let m = books.choose(&position, best).expect("readable");
            assert_eq!(m.map(|m| position.write_move(m)).as_deref(), Some(wanted));
        }
        books.switch(1, false).expect("it is open");
        let start = Position::start(Variant::FREESTYLE_15);
        let best = |_: &Source, _: &Position, answer: Answer| Ok(answer.best().map(|(m, _)| m));
        assert_eq!(books.choose(&start, best).expect("readable"), None);
        let listed = books.list();
        assert!(listed[0].ends_with("one is off") && listed[1].ends_with("other is on"));
        assert!(listed[1].starts_with("book 2 second="), "{listed:?}");
        books.switch(1, true).expect("it is open");
        assert!(books.choose(&start, best).expect("readable").is_some());
        for number in [0, 3] {
            let error = books.switch(number, false).expect_err("there are two");
            assert!(error.to_string().contains("open: 2"), "{error}");
        }
        assert!("first=".parse::<BookChoice>().is_err());
        let plain: BookChoice = "http://x:1/?a=b".parse().expect("a book");
        assert_eq!((plain.side, &*plain.name), (None, "http://x:1/?a=b"));
    }

    #[test]
    fn book_without_chases_serves_a_game_with_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let start = Position::start(Variant::XIANGQI);
        let m = start.parse_move("h2e2").expect("legal");
        let (mut book, _) =
            Book::open(folder.path(), &BookOptions::creating()).expect("a new book");
        let answer = [kagetsu_builders::opinion(m, 12)].into_iter().collect();
        book.learn(&start, &answer).expect("room for it");
        book.close().expect("room for it");
        let mut books = Books::default();
        let choice = folder.path().to_str().expect("a plain name").parse();
        let choice = choice.expect("a book");
        books.add(&choice, &Access::default()).expect("it is there");
        for (variant, wanted) in [
            (Variant::XIANGQI_CHASE, Some(m)),
            (Variant::XIANGQI, Some(m)),
            (Variant::SURAKARTA, None),
        ] {
            let found = books.lookup(&Position::start(variant)).expect("readable");
            let found = found.and_then(|answer| answer.best().map(|(m, _)| m));
            assert_eq!(found, wanted, "{variant}");
        }
    }

    #[test]
    fn first_moves_lead_to_the_best_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = [
            ("h8", "i9", -50),
            ("g7 a1", "b2", 30),
            ("b2 c2", "h8", 40),
            ("c3", "h8", 20),
        ];
        let mut books = Books::default();
        let book = write_book(&folder.path().join("book"), &rows)
            .parse()
            .expect("a book");
        books.add(&book, &Access::default()).expect("it is there");
        for (line, wanted) in [
            ("", Some(("h8", 50))),
            ("g9", Some(("a15", -30))),
            ("a8", None),
            ("b2", None),
            ("h8 i9", None),
            ("g7 a1 b2", None),
        ] {
            let position = kagetsu_builders::position(line);
            let found = books.opening(&position).expect("readable");
            let written = found.map(|(m, v)| (position.write_move(m), v.score.raw()));
            let wanted = wanted.map(|(m, score)| (m.to_string(), score));
            assert_eq!(written, wanted, "{line}");
        }
    }
}
