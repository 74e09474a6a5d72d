use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use kagetsu_compiled::{Choice, outweighs_search};
use kagetsu_game::{Answer, Effort, Move, Position, Question, Variant, Verdict};
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

use crate::books::{BookChoice, Books};
use crate::budget::Pace;
use crate::source::Access;

/// Mebibytes of the table where neither user nor manager limits it.
pub(crate) const DEFAULT_TABLE_MIB: u64 = 128;

/// Nodes a second that a thread is taken to search before the first search.
const FIRST_SPEED: u64 = 300_000;
/// Shorter searches say nothing about the speed.
const MIN_MEASURED: Duration = Duration::from_millis(50);

/// The settings of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) threads: usize,
    /// Mebibytes of the table, if the user has said so.
    pub(crate) table_mib: Option<u64>,
    /// The rule for choosing a book move.
    pub(crate) choice: Choice,
    /// Plies from the start after which the book is not used.
    pub(crate) book_depth: u32,
    /// The least nodes of the book's searches behind an unproven move that is played; `None` for as
    /// many as the engine's own search would visit.
    pub(crate) min_nodes: Option<u64>,
}

/// Books and a search.
pub(crate) struct MoveFinder {
    pub(crate) settings: Settings,
    /// The credentials for a coordinator that has a book.
    access: Access,
    books: Books,
    /// The engine, created at its first use and again after a change of its settings.
    engine: Option<(usize, u64, Engine)>,
    /// Nodes a second of the last search with one thread.
    speed: u64,
}

/// A position to think about.
#[derive(Clone, Debug)]
pub(crate) struct ThinkOrder {
    pub(crate) question: Question,
    /// Whether a book move may answer it.
    pub(crate) asks_book: bool,
    /// The share of a clock, where one limits the search.
    pub(crate) share: Option<Duration>,
    /// Whether to hold the answer until the search is stopped or [`Thinking::release`]d.
    pub(crate) waits: bool,
}

/// An event of a search.
#[derive(Debug)]
pub(crate) enum FinderReport {
    /// An iteration has ended.
    Progress(Progress),
    /// A problem that does not end the search.
    Trouble(String),
    /// The result.
    Done(Thought),
}

/// The result of thinking.
#[derive(Debug)]
pub(crate) enum Thought {
    /// The book's move.
    Book(Move, Verdict),
    /// The answer of the search; empty if the game is over.
    Search(Answer),
    /// The search failed.
    Failed(String),
}

impl MoveFinder {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            access: Access::default(),
            books: Books::default(),
            engine: None,
            speed: FIRST_SPEED,
        }
    }

    /// Sets the credentials for coordinators.
    pub(crate) fn through(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Opens one more book to play from.
    ///
    /// # Errors
    /// If the book cannot be opened.
    pub(crate) fn add(&mut self, book: &BookChoice) -> Result<()> {
        self.books.add(book, &self.access)
    }

    /// Opens all installed books. One that cannot be read is no reason to lose a game.
    pub(crate) fn add_installed(&mut self) {
        for path in kagetsu_files::installed_books() {
            let name = path.to_string_lossy().into_owned();
            let book = BookChoice { side: None, name };
            if let Err(error) = self.add(&book) {
                tracing::warn!("an installed book is not used: {error:#}");
            }
        }
    }

    /// Opens a book to play from in place of all others; an empty name closes them.
    ///
    /// # Errors
    /// If the book cannot be opened; there is none then.
    pub(crate) fn open(&mut self, book: &str) -> Result<()> {
        self.books = Books::default();
        match book {
            "" => Ok(()),
            book => self.add(&book.parse()?),
        }
    }

    /// The books to play from.
    pub(crate) fn books(&mut self) -> &mut Books {
        &mut self.books
    }

    /// Whether there is a book.
    pub(crate) fn has_book(&self) -> bool {
        !self.books.is_empty()
    }

    /// Looks up a position at any ply.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(crate) fn known(&mut self, position: &Position) -> Result<Option<Answer>> {
        self.books.lookup(position)
    }

    /// Returns the book's move, and whether it is worth more than the engine's own search.
    fn look_up(&mut self, order: &ThinkOrder) -> Result<Option<(Move, Verdict, bool)>> {
        let position = &order.question.position;
        let is_within = position.moves().len() < self.settings.book_depth as usize;
        if !is_within || self.books.is_empty() {
            return Ok(None);
        }
        let legal = position.legal_moves();
        let choice = self.settings.choice;
        let least = self.settings.min_nodes.unwrap_or(self.own_nodes(order));
        let known = self.books.choose(position, |book, position, answer| {
            let picked = choice.pick(&answer).filter(|(m, _)| legal.contains(m));
            let Some((m, verdict)) = picked.cloned() else {
                return Ok(None);
            };
            let lookup = |position: &Position| book.lookup(position);
            let of_entry = book.entry_nodes();
            let is_worth = outweighs_search((position, &verdict), of_entry, least, lookup)?;
            Ok(Some((m, verdict, is_worth)))
        })?;
        if known.is_some() {
            return Ok(known);
        }
        let opening = self.books.opening(position)?;
        Ok(opening.map(|(m, verdict)| (m, verdict, true)))
    }

    /// Returns the nodes that the search would visit; 0 where it has no limit of nodes or time.
    fn own_nodes(&self, order: &ThinkOrder) -> u64 {
        let Effort { time, nodes, .. } = order.question.effort;
        let speed = self.speed.saturating_mul(self.settings.threads as u64);
        let timed = order
            .share
            .or(time)
            .map(|time| time.as_secs_f64() * speed as f64);
        let least = [timed.map(|nodes| nodes as u64), nodes]
            .into_iter()
            .flatten()
            .min();
        least.unwrap_or(0)
    }

    fn engine(&mut self) -> Result<&mut Engine> {
        let threads = self.settings.threads;
        let table_mib = self.settings.table_mib.unwrap_or(DEFAULT_TABLE_MIB);
        if self
            .engine
            .as_ref()
            .is_none_or(|(own, mib, _)| (*own, *mib) != (threads, table_mib))
        {
            // The old table is freed before the new one is allocated.
            self.engine = None;
            let table_bytes = usize::try_from(table_mib << 20)?;
            let engine = Engine::new(EngineOptions {
                threads,
                table_bytes,
                ..EngineOptions::default()
            })?
            .with_kept_table();
            self.engine = Some((threads, table_mib, engine));
        }
        self.engine
            .as_mut()
            .map(|(_, _, engine)| engine)
            .ok_or_else(|| anyhow!("no engine"))
    }

    /// Creates the engine before the first search needs it, with the tables of some variants, which
    /// take long to make.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub(crate) fn prepare(&mut self, variants: &[Variant]) -> Result<()> {
        let engine = self.engine()?;
        for variant in variants
            .iter()
            .filter(|&&variant| Engine::supports(variant))
        {
            let start = Position::start(*variant);
            let moves = start.legal_moves();
            let question = Question::new(start.play(moves[moves.len() / 2])?, Effort::depth(2));
            engine.answer(&question, &Control::new(), &mut |_| {})?;
        }
        engine.clear_table();
        Ok(())
    }

    /// Clears the engine's table, before a new game.
    pub(crate) fn clear_table(&mut self) {
        if let Some((.., engine)) = &mut self.engine {
            engine.clear_table();
        }
    }

    /// Searches a position without the book.
    ///
    /// # Errors
    /// If the game has no search.
    pub(crate) fn ask(&mut self, question: &Question) -> Result<Answer> {
        Ok(self
            .engine()?
            .answer(question, &Control::new(), &mut |_| {})?)
    }

    fn think(
        &mut self,
        order: &ThinkOrder,
        control: &Control,
        report: &mut dyn FnMut(FinderReport),
    ) -> Thought {
        if order.asks_book {
            match self.look_up(order) {
                Ok(Some((m, verdict, true))) => return Thought::Book(m, verdict),
                Ok(Some((m, ..))) => report(FinderReport::Trouble(format!(
                    "book move {} is not played: this search sees more than the book's, unless \
                     --min-nodes 0 is given",
                    order.question.position.write_move(m)
                ))),
                Ok(None) => {}
                Err(error) => report(FinderReport::Trouble(format!(
                    "the book is not asked: {error:#}"
                ))),
            }
        }
        let mut speed = None;
        let answer = self.engine().and_then(|engine| {
            let begun = Instant::now();
            let mut has_reported = false;
            let mut pace = order.share.map(Pace::new);
            let answer = engine.answer(&order.question, control, &mut |progress| {
                has_reported = true;
                if progress.elapsed >= MIN_MEASURED {
                    speed = Some(progress.nodes as f64 / progress.elapsed.as_secs_f64());
                }
                if let Some((pace, (m, best))) = pace.as_mut().zip(progress.answer.best())
                    && pace.is_enough(begun.elapsed(), m, best.score.raw().into())
                {
                    control.stop();
                }
                report(FinderReport::Progress(progress.clone()));
            })?;
            // A win that the threat search proves needs no iteration, but a user wants to see it.
            if let Some((_, best)) = answer.best().filter(|_| !has_reported) {
                report(FinderReport::Progress(Progress {
                    depth: best.depth,
                    nodes: answer.nodes(),
                    answer: answer.clone(),
                    elapsed: begun.elapsed(),
                }));
            }
            Ok(answer)
        });
        if let Some(speed) = speed {
            self.speed = speed as u64 / self.settings.threads.max(1) as u64;
        }
        answer.map_or_else(
            |error| Thought::Failed(format!("{error:#}")),
            Thought::Search,
        )
    }
}

/// The finder of a brain, with the search that owns it for a while and a note about that search.
pub(crate) struct Thinker<Note> {
    pub(crate) settings: Settings,
    /// `None` while a search owns it, and after one that panicked.
    finder: Option<MoveFinder>,
    pub(crate) search: Option<(Thinking, Note)>,
}

impl<Note> Thinker<Note> {
    pub(crate) fn new(finder: MoveFinder) -> Self {
        Self {
            settings: finder.settings,
            finder: Some(finder),
            search: None,
        }
    }

    /// Stops a running search, and returns the note about it.
    pub(crate) fn end(&mut self) -> Option<Note> {
        let (thinking, note) = self.search.take()?;
        thinking.stop();
        self.finder = thinking.wait();
        Some(note)
    }

    /// Returns the finder. A search that has it is stopped first.
    pub(crate) fn finder(&mut self) -> &mut MoveFinder {
        self.end();
        self.finder
            .get_or_insert_with(|| MoveFinder::new(self.settings))
    }

    /// Starts to think, as [`Thinking::begin`] does.
    pub(crate) fn think(
        &mut self,
        order: ThinkOrder,
        note: Note,
        report: impl FnMut(FinderReport) + Send + 'static,
    ) {
        self.finder();
        if let Some(finder) = self.finder.take() {
            self.search = Some((Thinking::begin(finder, order, report), note));
        }
    }
}

/// A search in a thread of its own, which owns the finder until it ends.
pub(crate) struct Thinking {
    control: Control,
    release: Sender<()>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<MoveFinder>,
}

impl Thinking {
    /// Starts to think. Events go to `report`; the last one is [`FinderReport::Done`].
    pub(crate) fn begin(
        mut finder: MoveFinder,
        order: ThinkOrder,
        mut report: impl FnMut(FinderReport) + Send + 'static,
    ) -> Self {
        let control = Control::new();
        let (release, released) = channel();
        let own = control.clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let thought = finder.think(&order, &own, &mut report);
            if order.waits {
                // The wait ends too when the sender is dropped.
                let _ = released.recv();
            }
            over.store(true, Relaxed);
            report(FinderReport::Done(thought));
            finder
        });
        Self {
            control,
            release,
            is_over,
            thread,
        }
    }

    /// Stops the search with its answer so far.
    pub(crate) fn stop(&self) {
        self.control.stop();
        let _ = self.release.send(());
    }

    /// Lets a held answer out; the search ends after `time` at the latest.
    pub(crate) fn release(&self, time: Option<Duration>) {
        let _ = self.release.send(());
        if let Some(time) = time {
            let control = self.control.clone();
            std::thread::spawn(move || {
                std::thread::sleep(time);
                control.stop();
            });
        }
    }

    /// Whether the answer is being reported, or was.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Waits for the end. Returns `None` if the search panicked; the reason is on stderr.
    pub(crate) fn wait(self) -> Option<MoveFinder> {
        self.thread.join().ok()
    }
}
