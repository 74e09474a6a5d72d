//! UCI and UCCI: one brain, two spellings.

mod options;
mod talk;

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use kagetsu_engines::uci::{Clock, Dialect, FromEngine, Go, ToEngine};
use kagetsu_game::{Effort, Move, Position, Question, Variant, quote};
use kagetsu_search::Engine;

use crate::budget::{MoveTime, budget};
use crate::move_finder::{FinderReport, MoveFinder, ThinkOrder, Thinker};
use crate::output::{EngineOutput, say};
use options::UciOptions;
use talk::UciTalk;

/// An engine at one end of two pipes.
pub(super) struct UciBrain {
    dialect: Dialect,
    output: EngineOutput,
    options: UciOptions,
    position: Position,
    /// The fault of the last position that was sent; no search starts until another is sent.
    fault: Option<String>,
    /// UCCI: the moves that may not be chosen in this position.
    banned: Vec<Move>,
    /// Notes the time for a search that ponders, once the guess was right.
    thinker: Thinker<Option<Duration>>,
}

impl UciBrain {
    pub(super) fn new(
        dialect: Dialect,
        variant: Variant,
        finder: MoveFinder,
        output: EngineOutput,
    ) -> Self {
        let options = UciOptions::new(variant);
        let position = Position::start(variant);
        Self {
            dialect,
            output,
            options,
            position,
            fault: None,
            banned: Vec::new(),
            thinker: Thinker::new(finder),
        }
    }

    /// Carries out the lines, until `quit` or the last of them; a running search is stopped then.
    pub(super) fn run(mut self, lines: Receiver<String>) {
        for line in lines {
            match ToEngine::read(self.dialect, &line) {
                ToEngine::Quit => break,
                line => self.hear(line),
            }
        }
        self.thinker.end();
        if self.dialect == Dialect::Ucci {
            say(&self.output, "bye");
        }
    }

    fn hear(&mut self, line: ToEngine) {
        match line {
            ToEngine::Hello => self.introduce(),
            ToEngine::IsReady => {
                // A search goes on meanwhile.
                if self.thinker.search.is_none()
                    && let Err(error) = self.thinker.finder().prepare(&[])
                {
                    self.complain(&format!("{error:#}"));
                }
                self.say(&FromEngine::ReadyOk);
            }
            ToEngine::NewGame => {
                self.set_position(Position::start(self.options.variant));
                self.thinker.finder().clear_table();
            }
            ToEngine::SetOption { name, value } => {
                if let Err(wrong) = self.set(&name, value.as_deref().unwrap_or_default()) {
                    self.complain(&wrong);
                }
            }
            ToEngine::Position { fen, moves } => match self.read_position(fen.as_deref(), &moves) {
                Ok(position) => self.set_position(position),
                Err(wrong) => self.refuse_position(wrong),
            },
            ToEngine::BanMoves(moves) => {
                let talk = self.talk();
                self.banned = moves
                    .iter()
                    .filter_map(|text| talk.read_move(&self.position, text))
                    .collect();
            }
            ToEngine::Go(go) => self.go(&go),
            ToEngine::Stop => match &self.thinker.search {
                Some((thinking, _)) if !thinking.is_over() => thinking.stop(),
                _ => {
                    // The answer to the search before comes first.
                    self.thinker.end();
                    if self.dialect == Dialect::Ucci {
                        self.no_move();
                    }
                }
            },
            ToEngine::PonderHit => {
                if let Some((thinking, time)) = &self.thinker.search {
                    thinking.release(*time);
                }
            }
            ToEngine::Other(line) => match line.split_whitespace().next() {
                Some("position") => {
                    self.refuse_position("write `position startpos` or `position fen FEN`".into());
                }
                Some("go") => {
                    self.thinker.end();
                    let line = quote(line.trim());
                    self.complain(&format!("a limit of '{line}' is no number"));
                    self.no_move();
                }
                // The protocols want other lines ignored.
                _ => {}
            },
            ToEngine::Quit => {}
        }
    }

    fn refuse_position(&mut self, wrong: String) {
        self.thinker.end();
        self.complain(&format!("there is no position to search: {wrong}"));
        self.fault = Some(wrong);
    }

    fn no_move(&self) {
        self.say(&FromEngine::BestMove {
            best: None,
            ponder: None,
        });
    }

    fn say(&self, line: &FromEngine) {
        say(&self.output, &line.write(self.dialect));
    }

    fn complain(&self, text: &str) {
        self.talk().tell(text);
    }

    fn introduce(&self) {
        let id = |key: &str, value: &str| FromEngine::Id {
            key: key.into(),
            value: value.into(),
        };
        self.say(&id("name", Engine::NAME));
        self.say(&id("author", "the authors of Kagetsu"));
        for option in options::all(self.dialect, &self.thinker.settings, self.options.variant) {
            self.say(&FromEngine::Option(option));
        }
        self.say(&FromEngine::HelloOk);
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.eq_ignore_ascii_case("books") {
            return self.use_books(value);
        }
        let before = self.options.variant;
        let book = self
            .options
            .set(self.dialect, name, value, &mut self.thinker.settings)?;
        let settings = self.thinker.settings;
        let finder = self.thinker.finder();
        finder.settings = settings;
        let opened = book.map_or(Ok(()), |book| finder.open(&book));
        if self.options.variant != before {
            self.set_position(Position::start(self.options.variant));
        }
        opened.map_err(|error| format!("no book: {error:#}"))
    }

    /// Plays from the books of these numbers alone: `1,3`, `all` or `none`.
    fn use_books(&mut self, text: &str) -> Result<(), String> {
        let books = self.thinker.finder().books();
        let all = 1..=books.list().len();
        let used: Vec<usize> = match text {
            "all" => all.clone().collect(),
            "none" => Vec::new(),
            text => {
                let numbers = text.split(',').map(|number| number.trim().parse());
                let numbers: Result<_, _> = numbers.collect();
                numbers.map_err(|_| {
                    format!("option Books must be all, none or numbers as in 1,3, not '{text}'")
                })?
            }
        };
        for number in used.iter().copied().chain(all) {
            books
                .switch(number, used.contains(&number))
                .map_err(|error| format!("option Books: {error}"))?;
        }
        Ok(())
    }

    fn set_position(&mut self, position: Position) {
        self.thinker.end();
        self.position = position;
        self.fault = None;
        self.banned.clear();
    }

    fn read_position(&self, fen: Option<&str>, moves: &[String]) -> Result<Position, String> {
        let variant = self.options.variant;
        let start = match fen {
            Some(fen) => Position::from_fen(variant, fen).map_err(|error| error.to_string())?,
            None => Position::start(variant),
        };
        let talk = self.talk();
        moves.iter().try_fold(start, |position, text| {
            let m = talk
                .read_move(&position, text)
                .ok_or_else(|| format!("'{text}' is not a legal move of {variant}"))?;
            position.play(m).map_err(|error| error.to_string())
        })
    }

    fn talk(&self) -> UciTalk {
        UciTalk {
            dialect: self.dialect,
            options: self.options,
            output: self.output.clone(),
        }
    }

    fn go(&mut self, go: &Go) {
        if let Some(fault) = &self.fault {
            // A move for another position would be played as if it were one for this.
            self.complain(&format!("there is no position to search: {fault}"));
            self.no_move();
            return;
        }
        let begun = Instant::now();
        let (talk, position) = (self.talk(), self.position.clone());
        let chosen = self.chosen(go, &talk);
        let time = self.time(go);
        let waits = go.is_infinite || go.ponders;
        let depth = go
            .depth
            .or_else(|| go.mate.map(|moves| moves.saturating_mul(2)));
        let effort = Effort {
            depth: depth.map(|depth| {
                u8::try_from(depth)
                    .unwrap_or(u8::MAX)
                    .clamp(1, Effort::MAX_DEPTH)
            }),
            nodes: go.nodes.map(|nodes| nodes.max(1)),
            time: time.filter(|_| !waits).map(|time| time.most),
        };
        let asks_book = chosen.is_empty() && !waits && self.options.uses_book;
        let question = Question {
            moves: chosen,
            width: self.options.width,
            ..Question::new(position.clone(), effort)
        };
        let order = ThinkOrder {
            question,
            asks_book,
            share: time.filter(|_| !waits).and_then(|time| time.share),
            waits,
        };
        let report = move |report: FinderReport| talk.report(&position, begun, &report);
        self.thinker
            .think(order, time.map(|time| time.most), report);
    }

    /// Returns the moves to choose from; empty for all.
    fn chosen(&self, go: &Go, talk: &UciTalk) -> Vec<Move> {
        if !self.banned.is_empty() {
            return self
                .position
                .legal_moves()
                .into_iter()
                .filter(|m| !self.banned.contains(m))
                .collect();
        }
        let read = go.search_moves.iter().filter_map(|text| {
            let m = talk.read_move(&self.position, text);
            if m.is_none() {
                talk.tell(&format!("searchmoves: '{text}' is no legal move here"));
            }
            m
        });
        read.collect()
    }

    /// Returns the time for the move, if anything limits it.
    fn time(&self, go: &Go) -> Option<MoveTime> {
        let unit = match self.dialect {
            Dialect::Ucci if !self.options.uses_milliseconds => 1_000,
            _ => 1,
        };
        let length = |number: i64| {
            Duration::from_millis(u64::try_from(number).unwrap_or(0).saturating_mul(unit))
        };
        // UCI names the clocks by colour; UCCI has the mover's first.
        let Clock {
            time,
            increment,
            moves_to_go,
        } = match self.dialect {
            Dialect::Uci => go.clocks[self.position.side().index()],
            Dialect::Ucci => go.clocks[0],
        };
        let turn = go.move_time.map(Duration::from_millis);
        budget(
            time.map(length),
            length(increment.unwrap_or(0)),
            moves_to_go,
            turn,
        )
    }
}
