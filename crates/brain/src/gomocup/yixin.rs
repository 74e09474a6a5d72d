//! Words of Yixin-Board beyond an analysis: swap 2, balancing moves, and those that are refused.

use std::time::Instant;

use kagetsu_engines::gomocup::{FromEngine, Point};
use kagetsu_game::{Answer, Effort, Move, Position, Question};

use super::talk::one_line;
use super::{AwaitedPath, GomocupBrain, swap};

/// The most moves that a search for balance values.
const MAX_VALUED_MOVES: u16 = 100;
/// First moves for which a search for two balancing moves looks for the second.
const FIRST_MOVES: usize = 6;

impl GomocupBrain {
    /// Answers a word that Gomocup's protocol does not have.
    ///
    /// # Errors
    /// If a value is no number, or the board is not one for the word.
    pub(super) fn hear_yixin(&mut self, line: &str) -> Result<Option<FromEngine>, String> {
        let message = |text: &str| Ok(Some(FromEngine::Message(text.into())));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let bias = || {
            let bias = rest.trim().parse::<i32>();
            bias.map_err(|_| format!("{word}: write a value in hundredths, as in {word} 0"))
        };
        match word.to_ascii_uppercase().as_str() {
            "YXSWAP2STEP1" => self.place_three(),
            "YXSWAP2STEP2" => self.swaps("SWAP1"),
            "YXSWAP2STEP3" => self.swaps("SWAP2"),
            "YXBALANCEONE" => bias().and_then(|bias| self.balance(bias, false)),
            "YXBALANCETWO" => bias().and_then(|bias| self.balance(bias, true)),
            "YXSEARCHDEFEND" => self.think(MAX_VALUED_MOVES),
            "YXHASHDUMP" | "YXHASHLOAD" => {
                self.awaited = Some(AwaitedPath::Table);
                message("the table is in memory alone: nothing is written or read")
            }
            "YXDRAW" => message("no draw: the game is played to its end"),
            "YXRESIGN" => message("no resignation: the game is played to its end"),
            _ => Ok(Some(FromEngine::Unknown(line.chars().take(60).collect()))),
        }
    }

    /// Plays from another book.
    pub(super) fn open_book(&mut self, path: &str) {
        self.say(&FromEngine::Message(one_line(&format!(
            "DATABASE LOAD START {path}"
        ))));
        match self.finder().open(path) {
            Ok(()) => self.say(&FromEngine::Message("DATABASE LOAD DONE".into())),
            Err(error) => self.say(&FromEngine::Error(one_line(&format!(
                "no book: {error:#}; a database of Yixin's becomes one by `kagetsu import --format yxdb`"
            )))),
        }
    }

    pub(super) fn swap_decision(&mut self, stones: &[Point]) -> Result<FromEngine, String> {
        let (rule, size) = (self.rule()?, self.game()?.size);
        let (effort, begun) = (self.limits.effort(), Instant::now());
        let answer = swap::decide(self.prepared(), rule, size, stones, effort);
        self.limits.spent += begun.elapsed();
        answer
    }

    /// Says where the first three stones go, rows before columns.
    fn place_three(&mut self) -> Result<Option<FromEngine>, String> {
        if let FromEngine::Points(points) = self.swap_decision(&[])? {
            for (at, Point { x, y }) in points.iter().enumerate() {
                let text = format!("SWAP2 MOVE{} {y} {x}", at + 1);
                self.say(&FromEngine::Message(text));
            }
        }
        Ok(None)
    }

    /// Says whether to take the other colour.
    fn swaps(&mut self, step: &str) -> Result<Option<FromEngine>, String> {
        let points = self.game()?.points();
        let swaps = self.swap_decision(&points)? == FromEngine::Swap;
        let answer = if swaps { "YES" } else { "NO" };
        Ok(Some(FromEngine::Message(format!("{step} {answer}"))))
    }

    /// Returns the move, or the two moves, after which the value is nearest to `bias` for the side
    /// that makes the last one.
    fn balance(&mut self, bias: i32, two: bool) -> Result<Option<FromEngine>, String> {
        let (position, size) = (self.position()?, self.game()?.size);
        let (effort, begun) = (self.limits.effort(), Instant::now());
        let parts = if two { FIRST_MOVES as u32 + 1 } else { 1 };
        let effort = Effort {
            time: effort.time.map(|time| time / parts),
            nodes: effort.nodes.map(|nodes| (nodes / u64::from(parts)).max(1)),
            ..effort
        };
        let moves = if two {
            self.balanced_pair(&position, bias, effort)
        } else {
            let nearest = self
                .values(&position, effort)
                .map(|all| nearest(&all, bias));
            nearest.map(|found| found.map(|(_, m)| vec![m]))
        };
        self.limits.spent += begun.elapsed();
        let moves = moves?.ok_or("no move keeps the game going")?;
        let points = moves.iter().map(|m| Point::of(*m, size)).collect();
        Ok(Some(FromEngine::Points(points)))
    }

    fn balanced_pair(
        &mut self,
        position: &Position,
        bias: i32,
        effort: Effort,
    ) -> Result<Option<Vec<Move>>, String> {
        let first = self.values(position, effort)?;
        let mut best: Option<(i32, Vec<Move>)> = None;
        for (m, _) in first.verdicts().iter().take(FIRST_MOVES) {
            let next = position.play(*m).map_err(|error| error.to_string())?;
            if next.outcome().is_some() {
                continue;
            }
            let found = nearest(&self.values(&next, effort)?, bias);
            if let Some((distance, second)) = found
                && best.as_ref().is_none_or(|(least, _)| distance < *least)
            {
                best = Some((distance, vec![*m, second]));
            }
        }
        Ok(best.map(|(_, moves)| moves))
    }

    fn values(&mut self, position: &Position, effort: Effort) -> Result<Answer, String> {
        let question = Question {
            width: MAX_VALUED_MOVES,
            ..Question::new(position.clone(), effort)
        };
        let answer = self.prepared().ask(&question);
        answer.map_err(|error| format!("{error:#}"))
    }
}

/// Returns the move with the value nearest to `bias`, and its distance.
fn nearest(answer: &Answer, bias: i32) -> Option<(i32, Move)> {
    let exact = answer.verdicts().iter().filter(|(_, v)| v.is_exact());
    let distances = exact.map(|(m, v)| ((i32::from(v.score.raw()).saturating_sub(bias)).abs(), *m));
    distances.min_by_key(|(distance, _)| *distance)
}
