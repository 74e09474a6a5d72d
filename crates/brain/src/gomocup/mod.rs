//! Gomocup's protocol, and as much of Yixin's extensions as an analysis needs.

mod database;
mod game;
mod limits;
mod swap;
mod talk;
mod yixin;

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use kagetsu_engines::gomocup::{FromEngine, Point, ToEngine};
use kagetsu_game::{Move, Outcome, Position, Question, RuleName, Side, Variant};
use kagetsu_search::Engine;

use crate::move_finder::{FinderReport, MoveFinder, Settings, ThinkOrder, Thinker};
use crate::output::{EngineOutput, say};
use database::Query;
use game::{GomocupGame, Owner};
use limits::{GomocupLimits, MAX_THREADS};
use talk::{GomocupTalk, Played, one_line};

/// The greatest number of stones of a board, and of lines of a block.
const MAX_STONES: usize = 22 * 22;

/// A brain at one end of two pipes.
pub(super) struct GomocupBrain {
    output: EngineOutput,
    limits: GomocupLimits,
    game: Option<GomocupGame>,
    block: Option<Block>,
    /// Yixin: points that are not to be played.
    blocked: Vec<Move>,
    /// Yixin: the next line is a path.
    awaited: Option<AwaitedPath>,
    /// Has the settings from the start, which `INFO` may lower, and notes the move of a search and
    /// when it began.
    thinker: Thinker<(Played, Instant)>,
}

/// The use of a path that Yixin-Board sends.
#[derive(Clone, Copy)]
enum AwaitedPath {
    /// `YXSETDATABASE`: a book to play from.
    Book,
    /// `YXHASHDUMP`, `YXHASHLOAD`: it is passed over.
    Table,
}

/// Lines that belong together, until `DONE`.
struct Block {
    kind: BlockKind,
    stones: Vec<(Point, Option<u8>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// `BOARD`: a position to think about.
    Board,
    /// `YXBOARD`: a position.
    ProgressState,
    /// `SWAP2BOARD`.
    Swap2,
    /// `YXBLOCK`.
    Blocked,
    /// A question about the book.
    PositionQuery(Query),
}

impl GomocupBrain {
    pub(super) fn new(finder: MoveFinder, output: EngineOutput) -> Self {
        Self {
            output,
            limits: GomocupLimits::default(),
            game: None,
            block: None,
            blocked: Vec::new(),
            awaited: None,
            thinker: Thinker::new(finder),
        }
    }

    /// Executes commands until `END` or the last line. A running search ends at its own limit, so
    /// that lines from a file get a move, too.
    pub(super) fn run(mut self, lines: Receiver<String>) {
        for line in lines {
            match self.awaited.take() {
                Some(AwaitedPath::Book) => self.open_book(line.trim()),
                Some(AwaitedPath::Table) => {}
                None => {
                    if !self.goes_on(&line) {
                        break;
                    }
                }
            }
        }
        if let Some((thinking, _)) = self.thinker.search {
            let _ = thinking.wait();
        }
    }

    /// Executes a line. Returns `false` at `END`.
    fn goes_on(&mut self, line: &str) -> bool {
        match ToEngine::read(line) {
            ToEngine::End => return false,
            ToEngine::Other(line) if line.is_empty() => {}
            line => self.hear(line),
        }
        true
    }

    fn hear(&mut self, line: ToEngine) {
        match (line, &self.thinker.search) {
            (ToEngine::Info { key, value }, _) if key == "book" => self.switch_book(&value),
            (ToEngine::Info { key, value }, _) => self.limits.set(&key, &value),
            (ToEngine::YxStop, Some((thinking, _))) => thinking.stop(),
            (ToEngine::YxStop, None) => {}
            (line, _) => {
                // Other commands during a search are about another position.
                let _ = self.finder();
                let reply = self.obey(line);
                match reply {
                    Ok(Some(answer)) => self.say(&answer),
                    Ok(None) => {}
                    Err(reason) => self.say(&FromEngine::Error(one_line(&reason))),
                }
            }
        }
    }

    fn say(&self, line: &FromEngine) {
        say(&self.output, &line.write());
    }

    fn obey(&mut self, line: ToEngine) -> Result<Option<FromEngine>, String> {
        let is_open = matches!(line, ToEngine::Stone(..) | ToEngine::Done);
        if !is_open && self.block.take().is_some() {
            self.say(&FromEngine::Error(
                "a block was not ended with DONE; it is passed over".into(),
            ));
        }
        let ok = || Ok(Some(FromEngine::Ok(String::new())));
        match line {
            ToEngine::Start(size) => {
                let game = GomocupGame::new(size)?;
                let size = game.size;
                self.game = Some(game);
                self.begin();
                // The rule may come later.
                let variants = RuleName::ALL.map(|rule| Variant::Gomoku { rule, size });
                self.finder()
                    .prepare(&variants)
                    .map_err(|error| format!("{error:#}"))?;
                ok()
            }
            ToEngine::RectStart(width, height) if width == height => {
                self.obey(ToEngine::Start(width))
            }
            ToEngine::RectStart(width, height) => {
                Err(format!("boards are square here, not {width} by {height}"))
            }
            ToEngine::Restart => {
                self.game()?.clear();
                self.begin();
                ok()
            }
            ToEngine::Begin => {
                if !self.game()?.is_empty() {
                    return Err("BEGIN is for an empty board".into());
                }
                self.think(1)
            }
            ToEngine::Turn(point) => {
                self.game()?.put(point, Owner::Other)?;
                self.think(1)
            }
            // A suggested move is played without a search.
            ToEngine::Play(point) => {
                self.game()?.put(point, Owner::Own)?;
                Ok(Some(FromEngine::Points(vec![point])))
            }
            ToEngine::Takeback(point) => {
                self.game()?.take(point)?;
                ok()
            }
            ToEngine::Board => self.open(BlockKind::Board),
            ToEngine::YxBoard => self.open(BlockKind::ProgressState),
            ToEngine::Swap2Board => self.open(BlockKind::Swap2),
            ToEngine::YxBlock => self.open(BlockKind::Blocked),
            ToEngine::Stone(point, field) => {
                let block = self
                    .block
                    .as_mut()
                    .ok_or("a point belongs between BOARD and DONE")?;
                if block.stones.len() < MAX_STONES {
                    block.stones.push((point, field));
                }
                Ok(None)
            }
            ToEngine::Done => {
                let block = self.block.take().ok_or("DONE ends what was not begun")?;
                self.close(&block)
            }
            ToEngine::YxBlockReset => {
                self.blocked.clear();
                Ok(None)
            }
            ToEngine::YxNBest(width) => self.think(u16::try_from(width.clamp(1, 100)).unwrap_or(1)),
            ToEngine::YxShowForbid => self.forbidden().map(Some),
            ToEngine::YxShowInfo => {
                self.limits.is_detailed = true;
                self.say(&FromEngine::Message(Engine::NAME.into()));
                // A manager recognises an engine with Yixin's commands by this line.
                Ok(Some(FromEngine::Message(format!(
                    "INFO MAX_THREAD_NUM {MAX_THREADS}"
                ))))
            }
            ToEngine::YxHashClear => {
                self.finder().clear_table();
                Ok(Some(FromEngine::Message(
                    "Transposition table cleared.".into(),
                )))
            }
            ToEngine::About => Ok(Some(FromEngine::Other(about()))),
            ToEngine::Other(line) if line.eq_ignore_ascii_case("YXSETDATABASE") => {
                self.awaited = Some(AwaitedPath::Book);
                Ok(None)
            }
            ToEngine::Other(line) if line.eq_ignore_ascii_case("YXSAVEDATABASE") => Ok(Some(
                FromEngine::Message("the book is only read here: there is nothing to save".into()),
            )),
            ToEngine::Other(line) => match Query::of(&line) {
                Some(query) => self.open(BlockKind::PositionQuery(query)),
                None => self.hear_yixin(&line),
            },
            ToEngine::Info { .. } | ToEngine::YxStop | ToEngine::End => Ok(None),
        }
    }

    fn begin(&mut self) {
        self.limits.begin();
        self.blocked.clear();
        self.finder().clear_table();
    }

    fn game(&mut self) -> Result<&mut GomocupGame, String> {
        self.game
            .as_mut()
            .ok_or_else(|| "there is no board yet; START comes first".into())
    }

    fn rule(&self) -> Result<RuleName, String> {
        self.limits.rule.clone()
    }

    fn position(&mut self) -> Result<Position, String> {
        let rule = self.rule()?;
        self.game()?.position(rule)
    }

    fn open(&mut self, kind: BlockKind) -> Result<Option<FromEngine>, String> {
        self.game()?;
        self.block = Some(Block {
            kind,
            stones: Vec::new(),
        });
        Ok(None)
    }

    fn close(&mut self, block: &Block) -> Result<Option<FromEngine>, String> {
        match block.kind {
            BlockKind::Board | BlockKind::ProgressState => {
                // The old board stays where the new one is none.
                let mut game = self.game()?.clone();
                game.clear();
                for &(point, field) in &block.stones {
                    match field {
                        Some(1) => game.put(point, Owner::Own)?,
                        Some(2) => game.put(point, Owner::Other)?,
                        Some(3) => {
                            return Err(format!(
                                "{point}: a game that goes on after a win is not played here"
                            ));
                        }
                        // Yixin writes a pass so.
                        _ if point.x < 0 && point.y < 0 => {}
                        _ => {
                            return Err(format!(
                                "{point}: a stone is 1 (own) or 2 (the opponent's)"
                            ));
                        }
                    }
                }
                self.game = Some(game);
                if block.kind == BlockKind::Board {
                    self.think(1)
                } else {
                    self.position().map(|_| None)
                }
            }
            BlockKind::Blocked => {
                let size = self.game()?.size;
                self.blocked.extend(
                    block
                        .stones
                        .iter()
                        .filter_map(|(point, _)| point.to_move(size)),
                );
                Ok(None)
            }
            BlockKind::PositionQuery(query) => self.query(query, &block.stones),
            BlockKind::Swap2 => {
                let points: Vec<Point> = block.stones.iter().map(|(point, _)| *point).collect();
                self.swap_decision(&points).map(Some)
            }
        }
    }

    /// Sends the book's values of a position in Yixin's format; nothing while the book is off.
    fn query(
        &mut self,
        query: Query,
        stones: &[(Point, Option<u8>)],
    ) -> Result<Option<FromEngine>, String> {
        if query == Query::Change {
            return Err(
                "the book is only read here; `kagetsu build` and `kagetsu import` write it".into(),
            );
        }
        if !self.limits.uses_book || !self.finder().has_book() {
            return Ok(None);
        }
        let (rule, size) = (self.rule()?, self.game()?.size);
        let points: Vec<Point> = stones.iter().map(|(point, _)| *point).collect();
        let position = database::position(rule, size, &points)?;
        let known = self
            .finder()
            .known(&position)
            .map_err(|error| format!("the book cannot be read: {error:#}"))?;
        for line in query.answer(&position, size, known.as_ref()) {
            self.say(&FromEngine::Message(line));
        }
        Ok(None)
    }

    /// Switches a book on or off, `2 off`, or lists the books, `list`.
    fn switch_book(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let wanted = match words[..] {
            ["list"] => None,
            [number, "on" | "1"] => number.parse().ok().map(|number| (number, true)),
            [number, "off" | "0"] => number.parse().ok().map(|number| (number, false)),
            _ => None,
        };
        let books = self.finder().books();
        let done = match wanted {
            Some((number, is_on)) => books.switch(number, is_on).map_err(|e| e.to_string()),
            None if words == ["list"] => Ok(()),
            None => Err(format!(
                "INFO book {text}: write `INFO book 2 off`, `INFO book 2 on` or `INFO book list`"
            )),
        };
        let lines = done.map_or_else(|error| vec![error], |()| books.list());
        for line in lines {
            self.say(&FromEngine::Message(one_line(&line)));
        }
    }

    /// Returns the finder with the current settings.
    fn prepared(&mut self) -> &mut MoveFinder {
        let Settings {
            threads, table_mib, ..
        } = self.thinker.settings;
        let settings = Settings {
            threads: self.limits.threads.unwrap_or(threads),
            table_mib: self.limits.table_mib(table_mib),
            ..self.thinker.settings
        };
        let finder = self.finder();
        finder.settings = settings;
        finder
    }

    /// Stops a running search, puts its move on the board, and returns the finder.
    fn finder(&mut self) -> &mut MoveFinder {
        if let Some((played, begun)) = self.thinker.end() {
            self.limits.spent += begun.elapsed();
            let played = *played.lock();
            if let Some((game, m)) = self.game.as_mut().zip(played) {
                // A legal move is on an empty point.
                let _ = game.put(Point::of(m, game.size), Owner::Own);
            }
        }
        self.thinker.finder()
    }

    /// Starts a search of the current board.
    fn think(&mut self, width: u16) -> Result<Option<FromEngine>, String> {
        let position = self.position()?;
        if let Some(outcome) = position.outcome() {
            // Black has lost, but the manager waits for a move.
            let foul = self.game()?.foul();
            let point = foul.ok_or_else(|| {
                let result = match outcome {
                    Outcome::Win(Side::First) => "Black has won",
                    Outcome::Win(Side::Second) => "White has won",
                    Outcome::Draw => "it is a draw",
                };
                format!("the game is over, {result}; RESTART or BOARD begins another")
            })?;
            self.game()?.put(point, Owner::Own)?;
            return Ok(Some(FromEngine::Points(vec![point])));
        }
        let open = |m: &Move| !self.blocked.contains(m);
        let moves: Vec<Move> = if self.blocked.is_empty() {
            Vec::new()
        } else {
            position.legal_moves().into_iter().filter(open).collect()
        };
        if !self.blocked.is_empty() && moves.is_empty() {
            return Err("every legal move is blocked".into());
        }
        let played = Played::default();
        let talk = GomocupTalk {
            output: self.output.clone(),
            position: position.clone(),
            size: self.game()?.size,
            width: width.into(),
            is_detailed: self.limits.is_detailed,
            begun: Instant::now(),
            played: Arc::clone(&played),
        };
        let asks_book = moves.is_empty() && width == 1 && self.limits.uses_book;
        let question = Question {
            moves,
            width,
            ..Question::new(position, self.limits.effort())
        };
        let begun = Instant::now();
        let _ = self.prepared();
        let order = ThinkOrder {
            question,
            asks_book,
            share: self.limits.time().and_then(|time| time.share),
            waits: false,
        };
        let report = move |report: FinderReport| talk.report(&report);
        self.thinker.think(order, (played, begun), report);
        Ok(None)
    }

    /// `FORBID 0807.`: the points that renju forbids the side to move, two digits for each number.
    fn forbidden(&mut self) -> Result<FromEngine, String> {
        let (position, size) = (self.position()?, self.game()?.size);
        let points = position
            .forbidden_moves()
            .into_iter()
            .map(|(m, _)| Point::of(m, size));
        let text: String = points
            .map(|Point { x, y }| format!("{x:02}{y:02}"))
            .collect();
        Ok(FromEngine::Other(format!("FORBID {text}.")))
    }
}

fn about() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let www = env!("CARGO_PKG_REPOSITORY");
    format!(
        "name=\"Kagetsu\", version=\"{version}\", author=\"the authors of Kagetsu\", country=\"\", www=\"{www}\""
    )
}
