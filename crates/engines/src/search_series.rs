use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, Move, Position, Question};
use kagetsu_search::{Control, Progress, provenance_of, shallow};

use crate::eval::Eval;
use crate::fault::FaultKind;
use crate::search_watch::SearchWatch;
use crate::session::{EngineSession, SearchLine, SearchRequest, SearchResult};
use crate::verdicts;

/// One question to an engine, answered by as many searches as the engine needs.
pub(crate) struct SearchSeries<'a> {
    talk: &'a mut dyn EngineSession,
    /// Whether the engine respects a restriction to some root moves.
    restricts: bool,
    stall_timeout: Duration,
    question: &'a Question,
    control: &'a Control,
    begun: Instant,
    found: SearchResult,
    /// Whether some moves were searched separately, through the positions behind them.
    is_apart: bool,
}

impl<'a> SearchSeries<'a> {
    pub(crate) fn new(
        talk: &'a mut dyn EngineSession,
        restricts: bool,
        stall_timeout: Duration,
        question: &'a Question,
        control: &'a Control,
    ) -> Self {
        let (begun, found, is_apart) = (Instant::now(), SearchResult::default(), false);
        Self {
            talk,
            restricts,
            stall_timeout,
            question,
            control,
            begun,
            found,
            is_apart,
        }
    }

    /// Asks for the best of these moves (of all moves if the list is empty) until the wanted number
    /// of lines is known; in one search where the engine can.
    pub(crate) fn ask(
        &mut self,
        moves: &[Move],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), FaultKind> {
        let Question {
            position,
            width,
            effort,
            ..
        } = self.question;
        let restricts = self.restricts;
        if !restricts && !moves.is_empty() {
            return self.ask_behind(moves, progress);
        }
        let all = if moves.is_empty() {
            position.legal_moves()
        } else {
            moves.to_vec()
        };
        let wanted = usize::from(*width).min(all.len());
        let lines = (wanted as u16).min(self.talk.max_lines());
        let rounds = if restricts {
            wanted.div_ceil(lines.into())
        } else {
            1
        };
        let effort = shared(*effort, rounds);
        self.round(
            SearchRequest {
                position,
                moves,
                lines,
                effort,
            },
            progress,
        )?;
        while restricts && self.found.lines.len() < wanted && self.goes_on() {
            let rest: Vec<Move> = all.iter().copied().filter(|m| !self.knows(*m)).collect();
            let lines = lines.min((wanted - self.found.lines.len()) as u16);
            let before = self.found.lines.len();
            self.round(
                SearchRequest {
                    position,
                    moves: &rest,
                    lines,
                    effort,
                },
                progress,
            )?;
            if self.found.lines.len() == before {
                break;
            }
        }
        let has_values = self.found.lines.iter().any(|line| line.value.is_some());
        if !restricts && has_values && self.found.lines.len() < wanted && self.goes_on() {
            // Kagetsu's own 2-ply search selects the other moves that deserve a search.
            let Ok(shallow) = shallow(position) else {
                return Ok(());
            };
            let others = shallow
                .verdicts()
                .iter()
                .map(|(m, _)| *m)
                .filter(|m| !self.knows(*m));
            let others: Vec<Move> = others.take(wanted - self.found.lines.len()).collect();
            return self.ask_behind(&others, progress);
        }
        Ok(())
    }

    /// Runs one search of the position itself.
    fn round(
        &mut self,
        ask: SearchRequest<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), FaultKind> {
        let by = provenance_of(self.talk.name());
        let mut watch = SearchWatch::new(self.control, self.stall_timeout);
        let (so_far, begun) = (self.found.clone(), self.begun);
        let mut report = |found: &SearchResult| {
            let nodes = so_far.nodes.saturating_add(found.nodes);
            let known = so_far.lines.iter().chain(&found.lines);
            let answer: Answer = known
                .filter_map(|l| l.value.map(|v| verdicts::verdict(l, v, 0, &by)))
                .collect();
            let depth = found.lines.first().map_or(0, |line| line.depth);
            progress(&Progress {
                depth,
                answer,
                nodes,
                elapsed: begun.elapsed(),
            });
        };
        let found = self.talk.search(ask, &mut watch, &mut report)?;
        self.add(found);
        Ok(())
    }

    /// Searches the positions behind these moves, one by one.
    fn ask_behind(
        &mut self,
        moves: &[Move],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), FaultKind> {
        self.is_apart = true;
        let position = &self.question.position;
        let mut effort = shared(self.question.effort, moves.len());
        effort.depth = effort.depth.map(|depth| depth.saturating_sub(1).max(1));
        let by = provenance_of(self.talk.name());
        for &m in moves {
            let Ok(next) = position.play(m) else { continue };
            if next.outcome().is_some() || !self.goes_on() {
                continue;
            }
            let mut watch = SearchWatch::new(self.control, self.stall_timeout);
            let ask = SearchRequest {
                position: &next,
                moves: &[],
                lines: 1,
                effort,
            };
            let found = self.talk.search(ask, &mut watch, &mut |_| {})?;
            let Some(best) = found.lines.into_iter().next() else {
                continue;
            };
            let line = SearchLine {
                m,
                value: best.value.map(Eval::before),
                bound: best.bound.negated(),
                depth: best.depth.saturating_add(1),
                line: std::iter::once(m).chain(best.line).collect(),
            };
            self.add(SearchResult {
                lines: vec![line],
                nodes: found.nodes,
            });
            let known = self.found.lines.iter();
            let answer: Answer = known
                .filter_map(|l| l.value.map(|v| verdicts::verdict(l, v, 0, &by)))
                .collect();
            let (nodes, elapsed) = (self.found.nodes, self.begun.elapsed());
            progress(&Progress {
                depth: best.depth.saturating_add(1),
                answer,
                nodes,
                elapsed,
            });
        }
        Ok(())
    }

    /// Returns the lines found, and upper bounds for the `open` moves: those asked about that do
    /// not end the game.
    pub(crate) fn answer(&self, open: &[Move]) -> Result<Answer, FaultKind> {
        let (position, control, name) = (&self.question.position, self.control, self.talk.name());
        let by = provenance_of(name);
        let lines = &self.found.lines;
        let share = self.found.nodes / lines.len().max(1) as u64;
        let mut answer = Answer::new();
        for (n, line) in lines.iter().enumerate() {
            let nodes = if n == 0 {
                self.found.nodes - share * (lines.len() as u64 - 1)
            } else {
                share
            };
            let Some(value) = line.value else {
                let is_alone = lines.len() == 1;
                let valued = is_alone
                    .then(|| verdicts::valued(position, line.m, name, control))
                    .flatten();
                if valued.is_none()
                    && lines.iter().all(|line| line.value.is_none())
                    && !control.is_stopped()
                {
                    let m = position.write_move(line.m);
                    return Err(FaultKind::Other(format!("says no value of '{m}'")));
                }
                answer.extend(valued);
                continue;
            };
            answer.extend([verdicts::verdict(line, value, nodes, &by)]);
            let checked = match value {
                Eval::Win(_) => verdicts::checked_win(position, control),
                Eval::Loss(_) => verdicts::checked_loss(position, line.m, control),
                Eval::Centi(_) => None,
            };
            answer.extend(checked.filter(|(m, _)| open.contains(m)));
        }
        let last = if !self.is_apart && self.found.lines.iter().all(|line| line.value.is_some()) {
            // The engine has compared the last of its lines with all other moves of the question.
            let width = usize::from(self.question.width);
            answer
                .verdicts()
                .iter()
                .filter(|(_, v)| v.is_exact())
                .nth(width - 1)
                .map(|(_, verdict)| verdict.clone())
        } else {
            // The engine has compared its choice with all moves.
            let choice = lines.first().filter(|_| self.question.moves.is_empty());
            choice.and_then(|line| answer.get(line.m)).cloned()
        };
        if let Some(last) = last.filter(|last| last.proof.is_none()) {
            let rest = rest(position, open);
            let rest: Vec<_> = rest
                .into_iter()
                .filter(|m| answer.get(*m).is_none())
                .collect();
            answer.extend(rest.into_iter().map(|m| verdicts::no_better(m, &last)));
        }
        Ok(answer)
    }

    fn knows(&self, m: Move) -> bool {
        self.found.lines.iter().any(|line| line.m == m)
    }

    fn goes_on(&self) -> bool {
        let is_late = self
            .question
            .effort
            .time
            .is_some_and(|time| self.begun.elapsed() >= time);
        !self.control.is_stopped() && !is_late
    }

    fn add(&mut self, found: SearchResult) {
        let known: BTreeSet<Move> = self.found.lines.iter().map(|line| line.m).collect();
        self.found.lines.extend(
            found
                .lines
                .into_iter()
                .filter(|line| !known.contains(&line.m)),
        );
        self.found.nodes = self.found.nodes.saturating_add(found.nodes);
    }
}

/// Returns the moves that get an upper bound in the answer. In gomoku nearly every point is legal,
/// so only the moves of Kagetsu's own 2-ply search are included.
fn rest(position: &Position, open: &[Move]) -> Vec<Move> {
    if !position.variant().places_stones() {
        return open.to_vec();
    }
    let looked_at = shallow(position).unwrap_or_default();
    open.iter()
        .copied()
        .filter(|&m| looked_at.get(m).is_some())
        .collect()
}

/// Returns the effort of one of `searches` equal searches.
fn shared(effort: Effort, searches: usize) -> Effort {
    let searches = u32::try_from(searches.max(1)).unwrap_or(u32::MAX);
    let nodes = effort.nodes.map(|nodes| nodes.div_ceil(searches.into()));
    Effort {
        nodes,
        time: effort.time.map(|time| time / searches),
        ..effort
    }
}
