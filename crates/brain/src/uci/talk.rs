use std::time::{Duration, Instant};

use kagetsu_engines::uci::{Dialect, FromEngine, Info, Value};
use kagetsu_game::xiangqi::{parse_from_one, write_from_one};
use kagetsu_game::{Answer, Bound, Move, Position, Score, Variant, Verdict};

use super::options::UciOptions;
use crate::move_finder::{FinderReport, Thought};
use crate::output::{EngineOutput, say};

/// Reports a search over UCI or UCCI.
#[derive(Clone)]
pub(super) struct UciTalk {
    pub(super) dialect: Dialect,
    pub(super) options: UciOptions,
    pub(super) output: EngineOutput,
}

impl UciTalk {
    /// Sends a message for the user.
    pub(super) fn tell(&self, text: &str) {
        // A message is one line.
        let text = text.lines().collect::<Vec<_>>().join(" ");
        self.say(&FromEngine::Info(Info {
            text: Some(text),
            ..Info::default()
        }));
    }

    fn say(&self, line: &FromEngine) {
        say(&self.output, &line.write(self.dialect));
    }

    /// Whether moves are written with xiangqi's ranks from 1.
    fn counts_from_one(&self) -> bool {
        let is_xiangqi = matches!(self.options.variant, Variant::Xiangqi { .. });
        is_xiangqi && self.dialect == Dialect::Uci && self.options.counts_from_one
    }

    /// Reads a legal move; `None` for other text.
    pub(super) fn read_move(&self, position: &Position, text: &str) -> Option<Move> {
        let m = if self.counts_from_one() {
            parse_from_one(text)
        } else {
            position.parse_move(text).ok()
        };
        m.filter(|m| position.legal_moves().contains(m))
    }

    fn write_move(&self, position: &Position, m: Move) -> String {
        if self.counts_from_one() {
            write_from_one(m)
        } else {
            position.write_move(m)
        }
    }

    /// Sends a report of a search that began at `begun`.
    pub(super) fn report(&self, position: &Position, begun: Instant, report: &FinderReport) {
        match report {
            FinderReport::Progress(progress) => {
                self.lines(
                    position,
                    &progress.answer,
                    progress.depth,
                    Some((progress.nodes, progress.elapsed)),
                );
            }
            FinderReport::Trouble(text) => self.tell(text),
            FinderReport::Done(Thought::Book(m, verdict)) => {
                let ms = begun.elapsed().as_secs_f64() * 1e3;
                self.tell(&format!(
                    "book move {}, in {ms:.1} ms",
                    self.write_move(position, *m)
                ));
                let answer = [(*m, verdict.clone())].into_iter().collect();
                self.lines(position, &answer, verdict.depth, None);
                self.play(position, Some((*m, verdict)));
            }
            FinderReport::Done(Thought::Search(answer)) => {
                match answer.best() {
                    Some((_, verdict)) => self.lines(position, answer, verdict.depth, None),
                    None => self.over(position),
                }
                self.play(position, answer.best());
            }
            FinderReport::Done(Thought::Failed(reason)) => {
                self.tell(reason);
                self.play(position, None);
            }
        }
    }

    /// The best lines, as many as are wanted.
    fn lines(
        &self,
        position: &Position,
        answer: &Answer,
        depth: u8,
        spent: Option<(u64, Duration)>,
    ) {
        let known = answer
            .verdicts()
            .iter()
            .filter(|(_, verdict)| verdict.bound != Bound::Upper);
        for (number, (m, verdict)) in (1..=u32::from(self.options.width)).zip(known) {
            let line = if verdict.line.is_empty() {
                std::slice::from_ref(m)
            } else {
                &verdict.line
            };
            let speed = |(nodes, elapsed): (u64, Duration)| {
                (nodes as f64 / elapsed.as_secs_f64().max(1e-3)) as u64
            };
            self.say(&FromEngine::Info(Info {
                depth: Some(depth.into()),
                multi_pv: (self.options.width > 1).then_some(number),
                // A move of games has no value.
                score: (!verdict.is_silent()).then(|| value(self.dialect, verdict.score)),
                bound: Some(verdict.bound).filter(|_| !verdict.is_silent()),
                nodes: spent.map(|(nodes, _)| nodes),
                time: spent.map(|(_, elapsed)| self.time(elapsed)),
                speed: spent.filter(|_| self.dialect == Dialect::Uci).map(speed),
                line: line.iter().map(|m| self.write_move(position, *m)).collect(),
                text: None,
            }));
        }
    }

    /// In the unit of the protocol.
    fn time(&self, elapsed: Duration) -> u64 {
        if self.dialect == Dialect::Ucci && !self.options.uses_milliseconds {
            elapsed.as_secs()
        } else {
            u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
        }
    }

    /// The game is over: there is nothing to be searched.
    fn over(&self, position: &Position) {
        let text = position.outcome().map_or_else(
            || "no move".into(),
            |outcome| format!("the game is over: {outcome:?}"),
        );
        self.tell(&text);
    }

    fn play(&self, position: &Position, best: Option<(Move, &Verdict)>) {
        let ponder = best
            .and_then(|(_, verdict)| verdict.line.get(1))
            .map(|m| self.write_move(position, *m));
        let best = best.map(|(m, _)| self.write_move(position, m));
        self.say(&FromEngine::BestMove { best, ponder });
    }
}

/// Writes centi-units as they are; a mate in moves of the winner, or in UCCI, which has no word for
/// it, near 10,000.
fn value(dialect: Dialect, score: Score) -> Value {
    let moves = |plies: u16| i32::from(plies.div_ceil(2));
    match (score.win_plies(), score.loss_plies(), dialect) {
        (Some(plies), _, Dialect::Uci) => Value::Mate(moves(plies)),
        (_, Some(plies), Dialect::Uci) => Value::Mate(-moves(plies)),
        (Some(plies), ..) => Value::Centi(10_000 - i32::from(plies)),
        (_, Some(plies), _) => Value::Centi(i32::from(plies) - 10_000),
        _ => Value::Centi(i32::from(score.raw())),
    }
}
