use std::sync::Arc;
use std::time::Instant;

use kagetsu_engines::gomocup::{Eval, FromEngine, Point};
use kagetsu_game::{Bound, Move, Position, Score, Verdict};
use kagetsu_search::Progress;
use parking_lot::Mutex;

use crate::move_finder::{FinderReport, Thought};
use crate::output::{EngineOutput, say};

/// The move of a search, for the board.
pub(super) type Played = Arc<Mutex<Option<Move>>>;

/// Reports the search of a position to a Gomocup manager.
pub(super) struct GomocupTalk {
    pub(super) output: EngineOutput,
    pub(super) position: Position,
    pub(super) size: u8,
    /// Number of lines to report.
    pub(super) width: usize,
    pub(super) is_detailed: bool,
    pub(super) begun: Instant,
    pub(super) played: Played,
}

impl GomocupTalk {
    pub(super) fn report(&self, report: &FinderReport) {
        match report {
            FinderReport::Progress(progress) => self.iteration(progress),
            FinderReport::Trouble(text) => self.tell(text),
            FinderReport::Done(Thought::Book(m, verdict)) => {
                let value = eval(verdict.score).write();
                let (name, depth) = (self.position.write_move(*m), verdict.depth);
                let ms = self.begun.elapsed().as_secs_f64() * 1e3;
                self.tell(&format!(
                    "book move {name}: {value} at depth {depth}, in {ms:.1} ms"
                ));
                self.play(*m);
            }
            FinderReport::Done(Thought::Search(answer)) => match answer.best() {
                Some((m, _)) => self.play(m),
                None => self.fail("the game is over"),
            },
            FinderReport::Done(Thought::Failed(reason)) => self.fail(reason),
        }
    }

    fn iteration(&self, progress: &Progress) {
        let known = progress
            .answer
            .verdicts()
            .iter()
            .filter(|(_, verdict)| verdict.bound != Bound::Upper);
        let speed = (progress.nodes as f64 / progress.elapsed.as_secs_f64().max(1e-3)) as u64;
        let ms = progress.elapsed.as_millis();
        for (number, (m, verdict)) in known.take(self.width).enumerate() {
            let line = if verdict.line.is_empty() {
                std::slice::from_ref(m)
            } else {
                &verdict.line
            };
            if self.is_detailed {
                self.detail(number, progress, verdict, line, speed);
            } else {
                let line: Vec<String> = line.iter().map(|m| self.position.write_move(*m)).collect();
                let value = eval(verdict.score).write();
                let nodes = progress.nodes;
                self.tell(&format!(
                    "depth {} value {value} nodes {nodes} ms {ms} line {}",
                    progress.depth,
                    line.join(" ")
                ));
            }
        }
    }

    /// One line of play, as graphical interfaces for Yixin read it.
    fn detail(
        &self,
        number: usize,
        progress: &Progress,
        verdict: &Verdict,
        line: &[Move],
        speed: u64,
    ) {
        let points: Vec<String> = line
            .iter()
            .map(|m| Point::of(*m, self.size).to_string())
            .collect();
        let words = [
            ("PV", number.to_string()),
            ("NUMPV", self.width.to_string()),
            ("DEPTH", progress.depth.to_string()),
            (
                "SELDEPTH",
                line.len().max(progress.depth.into()).to_string(),
            ),
            ("NODES", verdict.nodes.to_string()),
            ("TOTALNODES", progress.nodes.to_string()),
            ("TOTALTIME", progress.elapsed.as_millis().to_string()),
            ("SPEED", speed.to_string()),
            ("EVAL", eval(verdict.score).write()),
            ("BESTLINE", points.join(" ")),
            ("PV DONE", String::new()),
        ];
        for (key, value) in words {
            say(
                &self.output,
                &FromEngine::Info {
                    key: key.into(),
                    value,
                }
                .write(),
            );
        }
    }

    fn tell(&self, text: &str) {
        say(&self.output, &FromEngine::Message(one_line(text)).write());
    }

    fn fail(&self, reason: &str) {
        say(&self.output, &FromEngine::Error(one_line(reason)).write());
    }

    /// Puts the move on the board before sending it: the reply may come at once.
    fn play(&self, m: Move) {
        *self.played.lock() = Some(m);
        say(
            &self.output,
            &FromEngine::Points(vec![Point::of(m, self.size)]).write(),
        );
    }
}

/// Returns a text as one line.
pub(super) fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" ")
}

fn eval(score: Score) -> Eval {
    match (score.win_plies(), score.loss_plies()) {
        (Some(plies), _) => Eval::Win(plies.into()),
        (_, Some(plies)) => Eval::Loss(plies.into()),
        _ => Eval::Centi(score.raw().into()),
    }
}
