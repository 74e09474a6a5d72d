use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, Move, Position, Question, Variant};
use kagetsu_search::{Control, Engine, Progress, shallow};

use crate::address::{Protocol, Settings};
use crate::fault::{Fault, Wrong};
use crate::gomocup;
use crate::known_answers::{EFFORT, Known, known_answers};
use crate::talk::{Ask, Found, Line, Talk, Value};
use crate::uci;
use crate::verdicts;
use crate::watch::Watch;

/// Most bytes of an engine's name.
const MOST_NAME: usize = 120;
/// How often a question is put to it: an engine that fails is started anew.
const TRIES: u32 = 2;
/// The wait before an engine is started again after the first failure, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Somebody else's engine, as a child process that is started again when it fails, and killed when this is dropped.
pub struct External {
    settings: Settings,
    name: String,
    /// The conversation; `None` after a failure, until the next question.
    talk: Option<Box<dyn Talk>>,
    /// Failures since its last answer.
    failures: u32,
    /// Whether it has disregarded which moves it was asked about.
    is_unruly: bool,
}

impl External {
    /// Starts the engine and hears its name.
    ///
    /// # Errors
    /// If it does not start, does not speak the protocol, or is stopped before it has.
    pub fn start(settings: Settings, control: &Control) -> Result<Self, Fault> {
        let name = settings.address.program.clone();
        let mut engine = Self { settings, name, talk: None, failures: 0, is_unruly: false };
        engine.talk(control).map(drop).map_err(|wrong| engine.fault(wrong))?;
        Ok(engine)
    }

    /// Another of the same, which is started with its first question.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { settings: self.settings.clone(), name: self.name.clone(), talk: None, failures: 0, ..*self }
    }

    /// Its name and version, as verdicts carry it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts positions with known answers to it: whether it plays by the rules of the variant.
    ///
    /// # Errors
    /// The first thing that it does wrong.
    pub fn check(&mut self, variant: Variant, control: &Control) -> Result<(), Fault> {
        self.try_check(variant, control).map_err(|wrong| {
            self.talk = None;
            self.fault(wrong)
        })
    }

    /// Thinks as [`Engine::answer`] does, with these differences: the window is not used; a move beyond the best `width`
    /// has an upper bound; the engine's claims of wins and losses are opinions near
    /// [`OPINION_MAX`](kagetsu_game::Score::OPINION_MAX), unless our rules or our search of threats show them to be true.
    /// An engine that fails is started again, and asked once more.
    ///
    /// # Errors
    /// What it did wrong the last time.
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, Fault> {
        for last in (0..TRIES).map(|n| n + 1 == TRIES) {
            self.pause(control);
            let wrong = match self.try_answer(question, control, progress) {
                Ok(answer) => {
                    self.failures = 0;
                    return Ok(answer);
                }
                Err(wrong) => wrong,
            };
            self.talk = None;
            self.failures = self.failures.saturating_add(1);
            self.is_unruly |= matches!(wrong, Wrong::Unasked { .. });
            let fault = self.fault(wrong);
            if last || fault.wrong.is_for_good() || control.is_stopped() {
                return Err(fault);
            }
            tracing::warn!(position = %question.position, "{fault}; it is started again");
        }
        // There is a last try.
        Ok(Answer::new())
    }

    fn fault(&self, wrong: Wrong) -> Fault {
        Fault { engine: self.name.clone(), wrong }
    }

    /// An engine that fails again and again is not started again and again without a pause.
    fn pause(&self, control: &Control) {
        let (first, longest) = BACKOFF;
        let doubled = first.saturating_mul(1 << self.failures.saturating_sub(1).min(10)).min(longest);
        let until = Instant::now() + if self.failures == 0 { Duration::ZERO } else { doubled };
        while Instant::now() < until && !control.is_stopped() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn talk(&mut self, control: &Control) -> Result<&mut dyn Talk, Wrong> {
        let talk: Box<dyn Talk> = match self.talk.take() {
            Some(talk) => talk,
            None => match self.settings.address.protocol {
                Protocol::Uci | Protocol::Ucci => Box::new(uci::Session::start(&self.settings, control)?),
                Protocol::Gomocup => Box::new(gomocup::Session::start(&self.settings, control)?),
            },
        };
        self.name = plain(talk.name());
        Ok(&mut **self.talk.insert(talk))
    }

    fn restricts(&mut self, control: &Control) -> Result<bool, Wrong> {
        Ok(!self.is_unruly && self.talk(control)?.restricts())
    }

    fn supported(&self, variant: Variant) -> Result<(), Wrong> {
        let is_supported = self.settings.address.protocol.supports(variant);
        let reason = match self.settings.address.protocol {
            Protocol::Uci | Protocol::Ucci => "UCI and UCCI engines are asked about xiangqi alone",
            Protocol::Gomocup => "Gomocup engines play gomoku alone",
        };
        if is_supported { Ok(()) } else { Err(Wrong::Unsupported { variant, reason }) }
    }

    fn try_check(&mut self, variant: Variant, control: &Control) -> Result<(), Wrong> {
        self.supported(variant)?;
        let mut watch = Watch::new(control, self.settings.patience);
        let talk = self.talk(control)?;
        for Known { position, moves } in known_answers(variant) {
            let ask = Ask { position: &position, moves: &[], lines: 1, effort: EFFORT };
            let found = talk.search(ask, &mut watch, &mut |_| {})?;
            let best = found.lines.first().map(|line| line.m);
            if control.is_stopped() {
                return Err(Wrong::Stopped);
            }
            let best = best.ok_or_else(|| Wrong::NoMove(position.to_string()))?;
            if !moves.is_empty() && !moves.contains(&best) {
                let names: Vec<String> = moves.iter().map(|&m| position.write_move(m)).collect();
                let (said, known) = (position.write_move(best), names.join(" or "));
                return Err(Wrong::Unknowing { said, position: position.to_string(), known, variant });
            }
        }
        if talk.restricts() {
            self.is_unruly = !self.obeys(variant, &mut watch)?;
        }
        Ok(())
    }

    /// Whether it keeps to the moves that it is asked about.
    fn obeys(&mut self, variant: Variant, watch: &mut Watch<'_>) -> Result<bool, Wrong> {
        let position = Position::start(variant);
        let least = position.legal_moves().first().copied();
        let moves: Vec<Move> = least.into_iter().collect();
        let ask = Ask { position: &position, moves: &moves, lines: 1, effort: EFFORT };
        let control = watch.control;
        match self.talk(control)?.search(ask, watch, &mut |_| {}) {
            Ok(_) => Ok(true),
            Err(Wrong::Unasked { .. }) => Ok(false),
            Err(wrong) => Err(wrong),
        }
    }

    fn try_answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, Wrong> {
        let position = &question.position;
        self.supported(position.variant())?;
        let legal = position.legal_moves();
        for &m in &question.moves {
            position.play(m).map_err(Wrong::Question)?;
        }
        let is_free = question.moves.is_empty();
        let asked = if is_free { &legal } else { &question.moves };
        let ended: Answer = asked.iter().filter_map(|&m| verdicts::ending(position, m)).collect();
        let is_won = ended.best().is_some_and(|(_, verdict)| verdict.score.win_plies().is_some());
        let open: Vec<Move> = asked.iter().copied().filter(|&m| ended.get(m).is_none() && legal.contains(&m)).collect();
        if is_won || open.is_empty() {
            return Ok(ended);
        }
        let mut inquiry = Inquiry { question, control, begun: Instant::now(), found: Found::default() };
        self.inquire(&mut inquiry, if is_free { &[] } else { &open }, progress)?;
        let mut answer = self.verdicts(&inquiry, &open)?;
        answer.merge(ended);
        Ok(answer)
    }

    /// Asks for the best moves until there are as many as are wanted, all at once where the engine can.
    fn inquire(
        &mut self,
        inquiry: &mut Inquiry<'_>,
        moves: &[Move],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Wrong> {
        let Question { position, width, effort, .. } = inquiry.question;
        let restricts = self.restricts(inquiry.control)?;
        if !restricts && !moves.is_empty() {
            return self.inquire_behind(inquiry, moves, progress);
        }
        let all = if moves.is_empty() { position.legal_moves() } else { moves.to_vec() };
        let wanted = usize::from(*width).min(all.len());
        let lines = (wanted as u16).min(self.talk(inquiry.control)?.most_lines());
        let rounds = if restricts { wanted.div_ceil(lines.into()) } else { 1 };
        let effort = shared(*effort, rounds);
        self.round(inquiry, Ask { position, moves, lines, effort }, progress)?;
        while restricts && inquiry.found.lines.len() < wanted && inquiry.goes_on() {
            let rest: Vec<Move> = all.iter().copied().filter(|m| !inquiry.knows(*m)).collect();
            let lines = lines.min((wanted - inquiry.found.lines.len()) as u16);
            let before = inquiry.found.lines.len();
            self.round(inquiry, Ask { position, moves: &rest, lines, effort }, progress)?;
            if inquiry.found.lines.len() == before {
                break;
            }
        }
        let has_values = inquiry.found.lines.iter().any(|line| line.value.is_some());
        if !restricts && has_values && inquiry.found.lines.len() < wanted && inquiry.goes_on() {
            // Which others are worth a question, our own 2-ply search says.
            let Ok(shallow) = shallow(position) else { return Ok(()) };
            let others = shallow.verdicts().iter().map(|(m, _)| *m).filter(|m| !inquiry.knows(*m));
            let others: Vec<Move> = others.take(wanted - inquiry.found.lines.len()).collect();
            return self.inquire_behind(inquiry, &others, progress);
        }
        Ok(())
    }

    /// One search of the position itself.
    fn round(
        &mut self,
        inquiry: &mut Inquiry<'_>,
        ask: Ask<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Wrong> {
        let by = verdicts::provenance(&self.name);
        let mut watch = Watch::new(inquiry.control, self.settings.patience);
        let so_far = inquiry.found.clone();
        let mut told = |found: &Found| {
            let nodes = so_far.nodes.saturating_add(found.nodes);
            let known = so_far.lines.iter().chain(&found.lines);
            let answer: Answer = known.filter_map(|l| l.value.map(|v| verdicts::verdict(l, v, 0, &by))).collect();
            let depth = found.lines.first().map_or(0, |line| line.depth);
            progress(&Progress { depth, answer, nodes, elapsed: inquiry.begun.elapsed() });
        };
        let found = self.talk(inquiry.control)?.search(ask, &mut watch, &mut told)?;
        inquiry.add(found);
        Ok(())
    }

    /// Asks about the positions behind these moves, one by one.
    fn inquire_behind(
        &mut self,
        inquiry: &mut Inquiry<'_>,
        moves: &[Move],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Wrong> {
        let position = &inquiry.question.position;
        let mut effort = shared(inquiry.question.effort, moves.len());
        effort.depth = effort.depth.map(|depth| depth.saturating_sub(1).max(1));
        let by = verdicts::provenance(&self.name);
        for &m in moves {
            let Ok(next) = position.play(m) else { continue };
            if next.outcome().is_some() || !inquiry.goes_on() {
                continue;
            }
            let mut watch = Watch::new(inquiry.control, self.settings.patience);
            let ask = Ask { position: &next, moves: &[], lines: 1, effort };
            let found = self.talk(inquiry.control)?.search(ask, &mut watch, &mut |_| {})?;
            let Some(best) = found.lines.into_iter().next() else { continue };
            let line = Line {
                m,
                value: best.value.map(Value::before),
                bound: best.bound.negated(),
                depth: best.depth.saturating_add(1),
                line: std::iter::once(m).chain(best.line).collect(),
            };
            inquiry.add(Found { lines: vec![line], nodes: found.nodes });
            let known = inquiry.found.lines.iter();
            let answer: Answer = known.filter_map(|l| l.value.map(|v| verdicts::verdict(l, v, 0, &by))).collect();
            let (nodes, elapsed) = (inquiry.found.nodes, inquiry.begun.elapsed());
            progress(&Progress { depth: best.depth.saturating_add(1), answer, nodes, elapsed });
        }
        Ok(())
    }

    /// What was found, and what that says of the moves beside it.
    fn verdicts(&mut self, inquiry: &Inquiry<'_>, open: &[Move]) -> Result<Answer, Wrong> {
        let (position, control) = (&inquiry.question.position, inquiry.control);
        let by = verdicts::provenance(&self.name);
        let lines = &inquiry.found.lines;
        let share = inquiry.found.nodes / lines.len().max(1) as u64;
        let mut answer = Answer::new();
        for (n, line) in lines.iter().enumerate() {
            let nodes = if n == 0 { inquiry.found.nodes - share * (lines.len() as u64 - 1) } else { share };
            let Some(value) = line.value else {
                let is_alone = lines.len() == 1;
                let valued = is_alone.then(|| verdicts::valued(position, line.m, &self.name, control)).flatten();
                if valued.is_none() && lines.iter().all(|line| line.value.is_none()) && !control.is_stopped() {
                    return Err(Wrong::NoValue(position.write_move(line.m)));
                }
                answer.extend(valued);
                continue;
            };
            answer.extend([verdicts::verdict(line, value, nodes, &by)]);
            let checked = match value {
                Value::Win(_) => verdicts::checked_win(position, control),
                Value::Loss(_) => verdicts::checked_loss(position, line.m, control),
                Value::Centi(_) => None,
            };
            answer.extend(checked.filter(|(m, _)| open.contains(m)));
        }
        let last = if self.restricts(control)? {
            // The last of several lines has been compared with all other moves.
            let width = usize::from(inquiry.question.width);
            answer.verdicts().iter().filter(|(_, v)| v.is_exact()).nth(width - 1).map(|(_, verdict)| verdict.clone())
        } else {
            // Its choice has; of the others each was asked about alone.
            let choice = lines.first().filter(|_| inquiry.question.moves.is_empty());
            choice.and_then(|line| answer.get(line.m)).cloned()
        };
        if let Some(last) = last.filter(|last| last.proof.is_none()) {
            let rest = rest(position, open);
            let rest: Vec<_> = rest.into_iter().filter(|m| answer.get(*m).is_none()).collect();
            answer.extend(rest.into_iter().map(|m| verdicts::no_better(m, &last)));
        }
        Ok(answer)
    }
}

/// The moves of which a bound is worth a place in an answer: in gomoku, where nearly every point is legal, those that our
/// own 2-ply search looks at.
fn rest(position: &Position, open: &[Move]) -> Vec<Move> {
    if !matches!(position.variant(), Variant::Gomoku { .. }) || !Engine::supports(position.variant()) {
        return open.to_vec();
    }
    let looked_at = shallow(position).unwrap_or_default();
    open.iter().copied().filter(|&m| looked_at.get(m).is_some()).collect()
}

/// One question while it is put to an engine.
struct Inquiry<'a> {
    question: &'a Question,
    control: &'a Control,
    begun: Instant,
    found: Found,
}

impl Inquiry<'_> {
    fn knows(&self, m: Move) -> bool {
        self.found.lines.iter().any(|line| line.m == m)
    }

    fn goes_on(&self) -> bool {
        let is_late = self.question.effort.time.is_some_and(|time| self.begun.elapsed() >= time);
        !self.control.is_stopped() && !is_late
    }

    fn add(&mut self, found: Found) {
        let known: BTreeSet<Move> = self.found.lines.iter().map(|line| line.m).collect();
        self.found.lines.extend(found.lines.into_iter().filter(|line| !known.contains(&line.m)));
        self.found.nodes = self.found.nodes.saturating_add(found.nodes);
    }
}

/// A name as it is kept: of one line, and not longer than messages take.
fn plain(name: &str) -> String {
    let mut plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let end = (0..=MOST_NAME.min(plain.len())).rev().find(|&end| plain.is_char_boundary(end)).unwrap_or(0);
    plain.truncate(end);
    plain.trim().to_string()
}

/// What one of so many searches may cost.
fn shared(effort: Effort, searches: usize) -> Effort {
    let searches = u32::try_from(searches.max(1)).unwrap_or(u32::MAX);
    let nodes = effort.nodes.map(|nodes| nodes.div_ceil(searches.into()));
    Effort { nodes, time: effort.time.map(|time| time / searches), ..effort }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_fits_into_a_message() {
        assert_eq!(plain(" Fairy-Stockfish\t14 "), "Fairy-Stockfish14");
        assert!((MOST_NAME - 3..=MOST_NAME).contains(&plain(&"象".repeat(100)).len()));
    }
}
