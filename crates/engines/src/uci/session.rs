use std::time::Duration;

use kagetsu_game::xiangqi::{parse_from_one, write_from_one};
use kagetsu_game::{Bound, Effort, Move, Position, Variant};
use kagetsu_search::Control;

use super::{Clock, Dialect, FromEngine, Go, Info, OptionLine, ToEngine, Value};
use crate::address::{EngineSettings, OptionValue, Protocol};
use crate::eval::Eval;
use crate::fault::FaultKind;
use crate::process::EngineProcess;
use crate::reported_lines::ReportedLines;
use crate::search_watch::{SearchWatch, WatchEvent, await_line};
use crate::session::{EngineSession, SearchLine, SearchRequest, SearchResult, plain, playable};

/// Time for an engine to give its best move after the command to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// Time beyond the limit of a search after which the engine gets the command to stop.
const TIME_TOLERANCE: Duration = Duration::from_millis(250);
/// Most options of an engine that are kept.
const MAX_OPTIONS: usize = 1_000;

/// A session over UCI or UCCI.
pub(crate) struct Session {
    process: EngineProcess,
    dialect: Dialect,
    name: String,
    options: Vec<OptionLine>,
    stall_timeout: Duration,
    /// Whether the engine counts ranks from 1.
    counts_from_one: bool,
    /// The value of the option MultiPV.
    lines: u16,
}

impl Session {
    /// Starts the engine, sets its options and finds out how it counts ranks.
    pub(crate) fn start(settings: &EngineSettings, control: &Control) -> Result<Self, FaultKind> {
        let dialect = if settings.address.protocol == Protocol::Ucci {
            Dialect::Ucci
        } else {
            Dialect::Uci
        };
        let process = EngineProcess::start(&settings.address, "quit")?;
        let mut session = Self {
            process,
            dialect,
            name: plain(&settings.address.program),
            options: Vec::new(),
            stall_timeout: settings.stall_timeout,
            counts_from_one: false,
            lines: 1,
        };
        session.greet(control)?;
        session.set_options(settings)?;
        session.make_ready(control)?;
        session.counts_from_one = session.find_lowest_rank(control)?;
        Ok(session)
    }

    fn say(&mut self, line: &ToEngine) -> Result<(), FaultKind> {
        self.process.send(&line.write(self.dialect))
    }

    fn greet(&mut self, control: &Control) -> Result<(), FaultKind> {
        self.say(&ToEngine::Hello)?;
        let Self {
            process,
            dialect,
            name,
            options,
            stall_timeout,
            ..
        } = self;
        let doing = match dialect {
            Dialect::Uci => "say uciok",
            Dialect::Ucci => "say ucciok",
        };
        await_line(process, control, *stall_timeout, doing, |line| {
            match FromEngine::read(*dialect, line) {
                FromEngine::Id { key, value } if key == "name" && !value.is_empty() => {
                    *name = plain(&value)
                }
                FromEngine::Option(option) if options.len() < MAX_OPTIONS => options.push(option),
                FromEngine::HelloOk => return Ok(Some(())),
                _ => {}
            }
            Ok(None)
        })
    }

    fn make_ready(&mut self, control: &Control) -> Result<(), FaultKind> {
        self.say(&ToEngine::IsReady)?;
        let dialect = self.dialect;
        let is_ready =
            |line: &str| Ok((FromEngine::read(dialect, line) == FromEngine::ReadyOk).then_some(()));
        await_line(
            &mut self.process,
            control,
            self.stall_timeout,
            "say readyok",
            is_ready,
        )
    }

    /// Returns the option of this name; case does not matter.
    fn option(&self, name: &str) -> Option<&OptionLine> {
        self.options
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Sets an option, if the engine has it.
    fn set(&mut self, name: &str, value: &str) -> Result<(), FaultKind> {
        let Some(option) = self.option(name) else {
            return Ok(());
        };
        let line = ToEngine::SetOption {
            name: option.name.clone(),
            value: Some(value.to_string()),
        };
        self.say(&line)
    }

    /// Sets a numeric option to the nearest allowed value, if the engine has it.
    fn set_number(&mut self, name: &str, number: u64) -> Result<(), FaultKind> {
        let [least, most] = self.option(name).map_or([None; 2], |option| option.range);
        let number = i64::try_from(number)
            .unwrap_or(i64::MAX)
            .min(most.unwrap_or(i64::MAX));
        self.set(name, &number.max(least.unwrap_or(0)).to_string())
    }

    fn set_options(&mut self, settings: &EngineSettings) -> Result<(), FaultKind> {
        if self
            .option("UCI_Variant")
            .is_some_and(|option| option.choices.iter().any(|c| c == "xiangqi"))
        {
            self.set("UCI_Variant", "xiangqi")?;
        }
        self.set_number("Threads", settings.threads.into())?;
        self.set_number("Hash", settings.memory_mib)?;
        self.set_number("hashsize", settings.memory_mib)?;
        // A book move has no value.
        self.set("OwnBook", "false")?;
        self.set("usebook", "false")?;
        self.set("usemillisec", "true")?;
        settings
            .options
            .iter()
            .try_for_each(|option| self.set_requested(option))
    }

    /// Sets an option that the user asked for.
    fn set_requested(&mut self, own: &OptionValue) -> Result<(), FaultKind> {
        if self.option(&own.name).is_none() {
            let known: Vec<&str> = self
                .options
                .iter()
                .map(|option| option.name.as_str())
                .collect();
            return Err(FaultKind::Permanent(format!(
                "has no option '{}'; it has {}",
                own.name,
                known.join(", ")
            )));
        }
        if own.name.eq_ignore_ascii_case("MultiPV") {
            return Ok(());
        }
        self.set(&own.name, &own.value)
    }

    /// Finds out whether the engine counts ranks from 1. At the start of a game only one reading of
    /// its move is legal.
    fn find_lowest_rank(&mut self, control: &Control) -> Result<bool, FaultKind> {
        let start = Position::start(Variant::XIANGQI);
        let mut watch = SearchWatch::new(control, self.stall_timeout);
        self.say(&ToEngine::Position {
            fen: None,
            moves: Vec::new(),
        })?;
        self.say(&ToEngine::Go(Go {
            depth: Some(1),
            ..Go::default()
        }))?;
        watch.begin(None);
        loop {
            let WatchEvent::Line(line) =
                watch.next(&mut self.process, "play a move at the start")?
            else {
                return Err(FaultKind::stopped());
            };
            let FromEngine::BestMove { best, .. } = FromEngine::read(self.dialect, &line) else {
                continue;
            };
            let best = best.ok_or_else(|| FaultKind::no_move(&start))?;
            let is_legal = |m: Option<Move>| m.is_some_and(|m| start.play(m).is_ok());
            return match is_legal(parse_from_one(&best)) {
                true => Ok(true),
                false if is_legal(start.parse_move(&best).ok()) => Ok(false),
                false => Err(FaultKind::illegal(&best, &start)),
            };
        }
    }

    fn write_move(&self, position: &Position, m: Move) -> String {
        if self.counts_from_one {
            write_from_one(m)
        } else {
            position.write_move(m)
        }
    }

    /// Reads a move in either way of counting ranks.
    fn parse_move(&self, variant: Variant, text: &str) -> Option<Move> {
        use kagetsu_game::{Game, xiangqi::Xiangqi};
        if self.counts_from_one {
            parse_from_one(text)
        } else {
            Xiangqi::start(variant).parse_move(text).ok()
        }
    }

    /// Returns the moves of a line, as far as they are legal.
    fn parse_line(&self, position: &Position, texts: &[String]) -> Vec<Move> {
        playable(
            position,
            texts
                .iter()
                .map_while(|text| self.parse_move(position.variant(), text)),
        )
    }

    /// Returns the line of an `info`, if it has one.
    fn line(&self, position: &Position, info: &Info) -> Option<SearchLine> {
        let line = self.parse_line(position, &info.line);
        let (m, value) = (*line.first()?, Some(value(info.score?)));
        let depth = u8::try_from(info.depth.unwrap_or(1))
            .unwrap_or(u8::MAX)
            .max(1);
        Some(SearchLine {
            m,
            value,
            bound: info.bound.unwrap_or(Bound::Exact),
            depth,
            line,
        })
    }

    fn set_lines(&mut self, lines: u16) -> Result<(), FaultKind> {
        if self.lines != lines {
            self.set("MultiPV", &lines.to_string())?;
            self.lines = lines;
        }
        Ok(())
    }

    fn set_position(&mut self, position: &Position) -> Result<(), FaultKind> {
        // Every game of UCI has a FEN.
        let fen = position
            .setup()
            .map(|_| position.prefix(0).fen().unwrap_or_default());
        let moves = position
            .moves()
            .iter()
            .map(|&m| self.write_move(position, m))
            .collect();
        self.say(&ToEngine::Position { fen, moves })
    }

    fn go(&self, ask: &SearchRequest<'_>) -> Go {
        let Effort { depth, nodes, time } = ask.effort;
        let millis = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1));
        let (depth, is_infinite) = (depth.map(u32::from), ask.effort == Effort::default());
        match self.dialect {
            Dialect::Uci => {
                let search_moves = ask
                    .moves
                    .iter()
                    .map(|&m| self.write_move(ask.position, m))
                    .collect();
                Go {
                    search_moves,
                    depth,
                    nodes,
                    move_time: millis,
                    is_infinite,
                    ..Go::default()
                }
            }
            // UCCI takes one limit; Kagetsu enforces the others.
            Dialect::Ucci if depth.is_some() => Go {
                depth,
                ..Go::default()
            },
            Dialect::Ucci if nodes.is_some() => Go {
                nodes,
                ..Go::default()
            },
            Dialect::Ucci => {
                let time = millis.and_then(|millis| i64::try_from(millis).ok());
                let clock = Clock {
                    time,
                    increment: None,
                    moves_to_go: time.map(|_| 1),
                };
                Go {
                    is_infinite,
                    clocks: [clock, Clock::default()],
                    ..Go::default()
                }
            }
        }
    }

    /// Stops the search. Returns the engine's move if it is among those asked about.
    fn stop(&mut self, position: &Position, allowed: &[Move]) -> Result<Option<Move>, FaultKind> {
        self.say(&ToEngine::Stop)?;
        let dialect = self.dialect;
        let best = await_line(
            &mut self.process,
            &Control::new(),
            STOP_TIMEOUT,
            "stop",
            |line| {
                let FromEngine::BestMove { best, .. } = FromEngine::read(dialect, line) else {
                    return Ok(None);
                };
                Ok(Some(best))
            },
        )?;
        let best = best.and_then(|text| self.parse_move(position.variant(), &text));
        Ok(best.filter(|m| allowed.contains(m)))
    }
}

impl EngineSession for Session {
    fn name(&self) -> &str {
        &self.name
    }

    fn restricts(&self) -> bool {
        true
    }

    fn max_lines(&self) -> u16 {
        let most = self
            .option("MultiPV")
            .map_or(1, |option| option.range[1].unwrap_or(1));
        u16::try_from(most.max(1)).unwrap_or(u16::MAX)
    }

    fn clear_table(&mut self) -> Result<(), FaultKind> {
        self.say(&ToEngine::NewGame)
    }

    fn search(
        &mut self,
        ask: SearchRequest<'_>,
        watch: &mut SearchWatch<'_>,
        progress: &mut dyn FnMut(&SearchResult),
    ) -> Result<SearchResult, FaultKind> {
        let legal = ask.position.legal_moves();
        self.set_lines(ask.lines)?;
        self.make_ready(watch.control)?;
        self.set_position(ask.position)?;
        if self.dialect == Dialect::Ucci && !ask.moves.is_empty() {
            let others = legal.iter().filter(|m| !ask.moves.contains(m));
            let banned: Vec<String> = others.map(|&m| self.write_move(ask.position, m)).collect();
            if !banned.is_empty() {
                self.say(&ToEngine::BanMoves(banned))?;
            }
        }
        let go = self.go(&ask);
        self.say(&ToEngine::Go(go))?;
        watch.begin(
            ask.effort
                .time
                .map(|time| time + time / 10 + TIME_TOLERANCE),
        );
        let allowed = if ask.moves.is_empty() {
            &legal
        } else {
            ask.moves
        };
        let mut gathered = ReportedLines::default();
        loop {
            let line = match watch.next(&mut self.process, "think")? {
                WatchEvent::Line(line) => line,
                WatchEvent::Stopped | WatchEvent::Late => {
                    let best = self.stop(ask.position, allowed)?;
                    return Ok(gathered.found(best));
                }
            };
            match FromEngine::read(self.dialect, &line) {
                FromEngine::Info(info) => {
                    watch.progress(info.depth.unwrap_or(0), info.nodes.unwrap_or(0));
                    gathered.count(info.nodes.unwrap_or(0));
                    let line = self.line(ask.position, &info);
                    let rank = info.multi_pv.unwrap_or(1);
                    let is_iteration =
                        line.is_some_and(|line| gathered.add(rank, line, allowed, ask.lines));
                    if is_iteration {
                        progress(&gathered.found(None));
                    }
                    let is_spent = ask
                        .effort
                        .nodes
                        .zip(info.nodes)
                        .is_some_and(|(most, nodes)| nodes >= most);
                    if is_spent && self.dialect == Dialect::Ucci {
                        self.say(&ToEngine::Stop)?;
                    }
                }
                FromEngine::BestMove { best: None, .. } => {
                    return Err(FaultKind::no_move(ask.position));
                }
                FromEngine::BestMove {
                    best: Some(text), ..
                } => {
                    let best = self
                        .parse_move(ask.position.variant(), &text)
                        .filter(|m| legal.contains(m));
                    let best = best.ok_or_else(|| FaultKind::illegal(&text, ask.position))?;
                    if !allowed.contains(&best) {
                        return Err(FaultKind::unasked(&text, ask.position));
                    }
                    return Ok(gathered.found(Some(best)));
                }
                FromEngine::Other(line) if line.to_ascii_lowercase().starts_with("error") => {
                    return Err(FaultKind::refuses(&line));
                }
                _ => {}
            }
        }
    }
}

/// Mates count the winner's moves.
fn value(reported: Value) -> Eval {
    match reported {
        Value::Centi(centi) => Eval::Centi(centi),
        Value::Mate(moves) if moves > 0 => Eval::Win(2 * moves.unsigned_abs() - 1),
        Value::Mate(moves) => Eval::Loss(moves.unsigned_abs().saturating_mul(2)),
    }
}
