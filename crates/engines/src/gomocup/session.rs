use std::path::Path;
use std::time::Duration;

use kagetsu_game::{Bound, Effort, Move, Position, RuleName, Side};
use kagetsu_search::Control;

use super::from_engine::points;
use super::{FromEngine, Point, RULES, ToEngine};
use crate::address::EngineSettings;
use crate::eval::Eval;
use crate::fault::FaultKind;
use crate::process::EngineProcess;
use crate::reported_lines::ReportedLines;
use crate::search_watch::{SearchWatch, WatchEvent, await_line};
use crate::session::{EngineSession, SearchLine, SearchRequest, SearchResult, plain, playable};

/// Time for an engine to give its name. The protocol does not require an answer; afterwards the
/// engine has no name.
const NAME_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for an engine to play after the command to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// Time after which a line is repeated, because an engine may lose it while it ends its search.
const REPEAT_AFTER: Duration = Duration::from_millis(300);
/// Time for an engine that knows no other limit, where the caller sets none.
const DEFAULT_TIME: Duration = Duration::from_secs(5);
/// Tolerance beyond an engine's time, as managers have it.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);
/// Most lines asked of an engine in one search.
const MAX_LINES: u16 = 64;
/// Smallest memory limit that an engine gets, in MiB; engines do not expect less.
const MIN_MEMORY_MIB: u64 = 350;

/// A session over Gomocup's protocol.
pub(crate) struct Session {
    process: EngineProcess,
    settings: EngineSettings,
    name: String,
    /// Whether the engine answers `ABOUT`.
    is_named: bool,
    /// Whether the engine knows Yixin's commands.
    is_yixin: bool,
    /// Whether limits of depth or nodes are set and must be cleared.
    has_limits: bool,
}

impl Session {
    /// Starts the engine, and finds out its name and its extensions.
    pub(crate) fn start(settings: &EngineSettings, control: &Control) -> Result<Self, FaultKind> {
        let process = EngineProcess::start(&settings.address, "END")?;
        let program = Path::new(&settings.address.program).file_stem();
        let name = program.map_or_else(String::new, |name| plain(&name.to_string_lossy()));
        let settings = settings.clone();
        let (is_named, is_yixin, has_limits) = (false, false, false);
        let mut session = Self {
            process,
            settings,
            name,
            is_named,
            is_yixin,
            has_limits,
        };
        session.greet(control)?;
        Ok(session)
    }

    fn say(&mut self, line: &ToEngine) -> Result<(), FaultKind> {
        self.process.send(&line.write())
    }

    fn set(&mut self, key: &str, value: impl ToString) -> Result<(), FaultKind> {
        self.say(&ToEngine::Info {
            key: key.into(),
            value: value.to_string(),
        })
    }

    fn greet(&mut self, control: &Control) -> Result<(), FaultKind> {
        self.say(&ToEngine::About)?;
        let naming = NAME_TIMEOUT.min(self.settings.stall_timeout);
        let about = await_line(
            &mut self.process,
            control,
            naming,
            "give its name",
            |line| {
                let FromEngine::About { name, version } = FromEngine::read(line) else {
                    return Ok(None);
                };
                Ok(Some(format!("{name} {version}").trim().to_string()))
            },
        );
        match about {
            Ok(name) => (self.name, self.is_named) = (plain(&name), true),
            Err(FaultKind::Silent(..)) => return Ok(()),
            Err(wrong) => return Err(wrong),
        }
        self.say(&ToEngine::YxShowInfo)?;
        self.say(&ToEngine::About)?;
        let mut is_yixin = false;
        await_line(
            &mut self.process,
            control,
            naming,
            "give its name",
            |line| match FromEngine::read(line) {
                FromEngine::Message(text) => {
                    is_yixin |= text.starts_with("INFO MAX_THREAD_NUM");
                    Ok(None)
                }
                FromEngine::About { .. } => Ok(Some(())),
                _ => Ok(None),
            },
        )?;
        self.is_yixin = is_yixin;
        Ok(())
    }

    /// Waits until the engine reads its input: some engines lose lines while they end a search.
    fn make_ready(&mut self, control: &Control) -> Result<(), FaultKind> {
        if !self.is_named {
            return Ok(());
        }
        let mut left = self.settings.stall_timeout;
        loop {
            self.say(&ToEngine::About)?;
            let is_about = |line: &str| {
                Ok(matches!(FromEngine::read(line), FromEngine::About { .. }).then_some(()))
            };
            match await_line(
                &mut self.process,
                control,
                REPEAT_AFTER.min(left),
                "give its name",
                is_about,
            ) {
                Err(FaultKind::Silent(..)) if left > REPEAT_AFTER => left -= REPEAT_AFTER,
                other => return other,
            }
        }
    }

    fn begin(&mut self, size: u8, control: &Control) -> Result<(), FaultKind> {
        self.make_ready(control)?;
        self.say(&ToEngine::Start(size.into()))?;
        await_line(
            &mut self.process,
            control,
            self.settings.stall_timeout,
            "say OK to START",
            |line| match FromEngine::read(line) {
                FromEngine::Ok(_) => Ok(Some(())),
                FromEngine::Error(text) | FromEngine::Unknown(text) => {
                    Err(FaultKind::refuses(&format!("START {size}: {text}")))
                }
                _ => Ok(None),
            },
        )
    }

    /// Sets all limits of a search. Returns the time that the engine has.
    fn limit(&mut self, rule: RuleName, effort: Effort) -> Result<Duration, FaultKind> {
        let Effort { depth, nodes, time } = effort;
        let stall_timeout = self.settings.stall_timeout / 2;
        let time = time.unwrap_or(if self.is_yixin {
            stall_timeout
        } else {
            stall_timeout.min(DEFAULT_TIME)
        });
        self.set("timeout_turn", time.as_millis().max(1))?;
        self.set("timeout_match", 0)?;
        self.set("time_left", i32::MAX)?;
        self.set(
            "max_memory",
            self.settings.memory_mib.max(MIN_MEMORY_MIB) << 20,
        )?;
        self.set("game_type", 1)?;
        let number = RULES.into_iter().find(|(_, name)| *name == rule);
        self.set("rule", number.map_or(0, |(number, _)| number))?;
        if depth.is_some() || nodes.is_some() || self.has_limits {
            self.set("max_depth", depth.unwrap_or(Effort::MAX_DEPTH))?;
            self.set("max_node", nodes.unwrap_or(u64::MAX))?;
            self.has_limits = true;
        }
        if self.settings.threads > 1 {
            self.set("thread_num", self.settings.threads)?;
        }
        if self.is_yixin {
            self.set("show_detail", 2)?;
        }
        for option in self.settings.options.clone() {
            self.set(&option.name, &option.value)?;
        }
        Ok(time)
    }

    /// Sends the stones and starts the search.
    fn think(&mut self, size: u8, ask: &SearchRequest<'_>) -> Result<(), FaultKind> {
        let stones = stones(ask.position);
        if !self.is_yixin && stones.is_empty() {
            return self.say(&ToEngine::Begin);
        }
        self.say(if self.is_yixin {
            &ToEngine::YxBoard
        } else {
            &ToEngine::Board
        })?;
        let us = ask.position.side();
        for (m, side) in stones {
            self.say(&ToEngine::Stone(
                Point::of(m, size),
                Some(if side == us { 1 } else { 2 }),
            ))?;
        }
        self.say(&ToEngine::Done)?;
        if !self.is_yixin {
            return Ok(());
        }
        self.say(&ToEngine::YxBlockReset)?;
        if !ask.moves.is_empty() {
            self.say(&ToEngine::YxBlock)?;
            for m in ask
                .position
                .legal_moves()
                .into_iter()
                .filter(|m| !ask.moves.contains(m))
            {
                self.say(&ToEngine::Stone(Point::of(m, size), None))?;
            }
            self.say(&ToEngine::Done)?;
        }
        self.say(&ToEngine::YxNBest(ask.lines.into()))
    }

    /// Stops the search. Returns the engine's move if it is among those asked about.
    fn stop(&mut self, size: u8, allowed: &[Move]) -> Result<Option<Move>, FaultKind> {
        if !self.is_yixin {
            // The protocol has no command for it.
            return Err(FaultKind::stopped());
        }
        self.say(&ToEngine::YxStop)?;
        let point = await_line(
            &mut self.process,
            &Control::new(),
            STOP_TIMEOUT,
            "stop",
            |line| {
                let FromEngine::Points(points) = FromEngine::read(line) else {
                    return Ok(None);
                };
                Ok(points.first().copied())
            },
        )?;
        Ok(point.to_move(size).filter(|m| allowed.contains(m)))
    }
}

impl EngineSession for Session {
    fn name(&self) -> &str {
        &self.name
    }

    fn restricts(&self) -> bool {
        self.is_yixin
    }

    fn max_lines(&self) -> u16 {
        if self.is_yixin { MAX_LINES } else { 1 }
    }

    fn clear_table(&mut self) -> Result<(), FaultKind> {
        if self.is_yixin {
            self.say(&ToEngine::YxHashClear)?;
        }
        Ok(())
    }

    fn search(
        &mut self,
        ask: SearchRequest<'_>,
        watch: &mut SearchWatch<'_>,
        progress: &mut dyn FnMut(&SearchResult),
    ) -> Result<SearchResult, FaultKind> {
        let Some((rule, size)) = ask.position.variant().gomoku() else {
            let variant = ask.position.variant();
            return Err(FaultKind::unsupported(variant, "it is no gomoku"));
        };
        let legal = ask.position.legal_moves();
        let allowed = if ask.moves.is_empty() {
            &legal
        } else {
            ask.moves
        };
        self.begin(size, watch.control)?;
        let time = self.limit(rule, ask.effort)?;
        self.think(size, &ask)?;
        watch.begin(Some(time + time / 10 + TIME_TOLERANCE));
        let (mut gathered, mut thought, mut unknown) =
            (ReportedLines::default(), PartialLine::default(), None);
        loop {
            let line = match watch.next(&mut self.process, "think")? {
                WatchEvent::Line(line) => line,
                WatchEvent::Late if !self.is_yixin => {
                    let silent = FaultKind::Silent("play in its time", time);
                    return Err(unknown.unwrap_or(silent));
                }
                WatchEvent::Late | WatchEvent::Stopped => {
                    return Ok(gathered.found(self.stop(size, allowed)?));
                }
            };
            match FromEngine::read(&line) {
                FromEngine::Points(points) => {
                    let best = points
                        .first()
                        .filter(|_| points.len() == 1)
                        .and_then(|point| point.to_move(size));
                    let best = best.filter(|m| legal.contains(m));
                    let best = best.ok_or_else(|| FaultKind::illegal(&line, ask.position))?;
                    if !allowed.contains(&best) {
                        return Err(FaultKind::unasked(&line, ask.position));
                    }
                    return Ok(gathered.found(Some(best)));
                }
                FromEngine::Suggest(point) => self.say(&ToEngine::Play(point))?,
                FromEngine::Info { key, value } => {
                    let done = thought.add(&key, &value, ask.position, size);
                    watch.progress(thought.depth, thought.nodes);
                    gathered.count(thought.nodes);
                    if done.is_some_and(|(rank, line)| gathered.add(rank, line, allowed, ask.lines))
                    {
                        progress(&gathered.found(None));
                    }
                }
                FromEngine::Error(text) => return Err(FaultKind::refuses(&text)),
                // This may refer to a setting that the engine does not know.
                FromEngine::Unknown(text) => {
                    unknown = Some(FaultKind::refuses(&format!("UNKNOWN {text}")));
                }
                _ => {}
            }
        }
    }
}

/// Returns all stones in the order of play; those of a set-up board come first, the sides in turn.
fn stones(position: &Position) -> Vec<(Move, Side)> {
    let mut all = Vec::new();
    let mut side = Side::First;
    if position.setup().is_some() {
        let first = position.prefix(0);
        let [black, white] = first.stones().unwrap_or_default();
        let (mut black, mut white) = (black.into_iter(), white.into_iter());
        loop {
            let (one, other) = (black.next(), white.next());
            all.extend(one.map(|m| (m, Side::First)));
            all.extend(other.map(|m| (m, Side::Second)));
            if one.is_none() && other.is_none() {
                break;
            }
        }
        side = first.side();
    }
    for &m in position.moves() {
        all.push((m, side));
        side = side.other();
    }
    all
}

/// A line that a Yixin engine reports key by key.
#[derive(Default)]
struct PartialLine {
    /// From 0.
    rank: u32,
    depth: u32,
    nodes: u64,
    eval: Option<Eval>,
    line: Vec<Point>,
}

impl PartialLine {
    /// Adds one key and value. Returns the whole line and its rank from 1 when it is complete.
    fn add(
        &mut self,
        key: &str,
        value: &str,
        position: &Position,
        size: u8,
    ) -> Option<(u32, SearchLine)> {
        match key {
            "PV" => {
                (self.rank, self.eval, self.line) =
                    (value.parse().unwrap_or(u32::MAX), None, Vec::new())
            }
            "DEPTH" => self.depth = value.parse().unwrap_or(self.depth),
            "TOTALNODES" => {
                self.nodes = value
                    .parse()
                    .map_or(self.nodes, |nodes| self.nodes.max(nodes))
            }
            "EVAL" => self.eval = Eval::read(value),
            "BESTLINE" => self.line = points(value).unwrap_or_default(),
            "PV DONE" => {
                let line = playable(
                    position,
                    self.line.iter().map_while(|point| point.to_move(size)),
                );
                let value = self.eval.take()?;
                let depth = u8::try_from(self.depth).unwrap_or(u8::MAX).max(1);
                let m = *line.first()?;
                let line = SearchLine {
                    m,
                    value: Some(value),
                    bound: Bound::Exact,
                    depth,
                    line,
                };
                return Some((self.rank.saturating_add(1), line));
            }
            _ => {}
        }
        None
    }
}
